import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Resource } from '@portico/translate'
import { Backoff } from '../kube/backoff.ts'
import { eventually } from '../testing/eventually.ts'
import { Materials } from './materials.ts'

const KEY = 'shop/cert'
const ID = 'Secret/shop/cert'

describe('Secrets and ConfigMaps', () => {
  it('are read when wanted, once per version, and dropped when not wanted', async (t) => {
    const scene = useScene(t)
    scene.server = secret('1', 'one')
    scene.materials.take('Secret', KEY, part('1'))
    assert.deepEqual([scene.reads, scene.value()], [0, 'part'])
    scene.materials.want([ID])
    await eventually('it is read', () => scene.value() === 'one')
    scene.materials.take('Secret', KEY, part('1'))
    scene.materials.want([ID])
    assert.equal(scene.reads, 1)
    scene.server = secret('2', 'two')
    scene.materials.take('Secret', KEY, part('2'))
    assert.equal(scene.value(), 'one')
    await eventually('it is read anew', () => scene.value() === 'two')
    assert.deepEqual([scene.reads, scene.materials.count('Secret'), scene.materials.count('ConfigMap')], [2, 1, 0])
    scene.materials.want([])
    assert.deepEqual([scene.value(), scene.materials.count('Secret')], ['part', 0])
    scene.materials.take('Secret', KEY, undefined)
    assert.equal(scene.value(), undefined)
  })

  it('that cannot be read are retried, and the previous content is used until then', async (t) => {
    const scene = useScene(t)
    scene.server = secret('1', 'one')
    scene.materials.take('Secret', KEY, part('1'))
    scene.materials.want([ID])
    await eventually('it is read', () => scene.value() === 'one')
    const answers = [new Error('the API server is tired'), undefined, secret('1', 'one')]
    scene.answers = answers
    scene.server = secret('2', 'two')
    scene.materials.take('Secret', KEY, part('2'))
    await eventually('it is read anew', () => scene.value() === 'two')
    assert.equal(scene.troubles.length, 3)
    assert.deepEqual(scene.values, ['part', 'one', 'two'])
  })

  it('that change while they are read are read again', async (t) => {
    const scene = useScene(t)
    const { promise: first, resolve: answer } = Promise.withResolvers<Resource>()
    scene.answers = [first]
    scene.materials.take('Secret', KEY, part('1'))
    scene.materials.want([ID])
    scene.server = secret('2', 'two')
    scene.materials.take('Secret', KEY, part('2'))
    answer(secret('1', 'one'))
    await eventually('the newer one is there', () => scene.value() === 'two')
    assert.equal(scene.reads, 2)
  })

  it('that are deleted during a read stay deleted', async (t) => {
    const scene = useScene(t)
    const { promise: first, resolve: answer } = Promise.withResolvers<Resource>()
    scene.answers = [first]
    scene.materials.take('Secret', KEY, part('1'))
    scene.materials.want([ID])
    scene.materials.take('Secret', KEY, undefined)
    answer(secret('1', 'one'))
    await first
    assert.deepEqual(scene.values, ['part', undefined])
    scene.server = secret('3', 'three')
    scene.materials.take('Secret', KEY, part('3'))
    await eventually('the next of that name is read', () => scene.value() === 'three')
    assert.ok(!scene.values.includes('one'))
  })

  it('from a restored server are used, when its watch reports them', async (t) => {
    const scene = useScene(t)
    scene.server = secret('9', 'nine')
    scene.materials.take('Secret', KEY, part('9'))
    scene.materials.want([ID])
    await eventually('it is read', () => scene.value() === 'nine')
    // The server was restored from a backup.
    scene.server = secret('5', 'five')
    scene.materials.take('Secret', KEY, part('5'))
    await eventually('it is the one of then', () => scene.value() === 'five')
    // A watch that is behind the read content does not cause endless reads.
    scene.materials.take('Secret', KEY, part('4'))
    await eventually('it was asked for', () => scene.reads === 3)
    assert.equal(scene.value(), 'five')
  })

  it('drop a label at once', async (t) => {
    const scene = useScene(t)
    scene.server = secret('1', 'one', { keys: 'yes' })
    scene.materials.take('Secret', KEY, part('1', { keys: 'yes' }))
    scene.materials.want([ID])
    await eventually('it is read', () => scene.value() === 'one')
    scene.answers = [new Promise<Resource>(() => undefined)]
    scene.materials.take('Secret', KEY, part('2'))
    assert.deepEqual([scene.value(), scene.known?.metadata.labels], ['one', undefined])
  })

  it('are read few at a time', async (t) => {
    const scene = useScene(t)
    const open: ((found: Resource) => void)[] = []
    scene.answers = Array.from({ length: 20 }, () => new Promise<Resource>((resolve) => open.push(resolve)))
    const keys = Array.from({ length: 20 }, (_, index) => `shop/s${index}`)
    for (const key of keys) scene.materials.take('Secret', key, part('1'))
    scene.materials.want(keys.map((key) => `Secret/${key}`))
    assert.equal(scene.reads, 8)
    for (const answer of open) answer(secret('1', 'one'))
    await eventually('all are read', () => scene.reads === 20 && scene.materials.count('Secret') === 20)
  })
})

type Answer = Resource | undefined | Error | Promise<Resource>

interface Scene {
  materials: Materials
  server: Resource | undefined
  /** Responses in place of the server's state, in order. */
  answers: Answer[]
  reads: number
  troubles: unknown[]
  known: Resource | undefined
  values: (string | undefined)[]
  value(): string | undefined
}

function useScene(t: TestContext): Scene {
  const scene: Scene = {
    materials: new Materials({
      read: async () => {
        scene.reads += 1
        const answer = scene.answers.length > 0 ? scene.answers.shift() : scene.server
        if (answer instanceof Error) throw answer
        return answer
      },
      changed: (_kind, _key, resource) => {
        scene.known = resource
        scene.values.push(scene.value())
      },
      onError: (_kind, _key, error) => scene.troubles.push(error),
      createBackoff: () => new Backoff({ firstMs: 2, mostMs: 4 }),
    }),
    server: undefined,
    answers: [],
    reads: 0,
    troubles: [],
    known: undefined,
    values: [],
    value() {
      if (scene.known === undefined) return undefined
      return scene.known.isPartial === true ? 'part' : (scene.known.data as { value: string }).value
    },
  }
  t.after(() => scene.materials.stop())
  return scene
}

function part(resourceVersion: string, labels?: Record<string, string>): Resource {
  const metadata = { namespace: 'shop', name: 'cert', resourceVersion, ...(labels && { labels }) }
  return { apiVersion: 'v1', kind: 'Secret', metadata, isPartial: true }
}

function secret(resourceVersion: string, value: string, labels?: Record<string, string>): Resource {
  const { isPartial: _, ...rest } = part(resourceVersion, labels)
  return { ...rest, data: { value } }
}
