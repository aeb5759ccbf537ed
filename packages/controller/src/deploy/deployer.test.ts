import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Resource } from '@portico/translate'
import { Backoff } from '../kube/backoff.ts'
import { Deployer, type DesiredState } from './deployer.ts'
import type { DeployedObject, DeployedKind } from './objects.ts'
import { nameOf } from './plan.ts'
import type { Cluster, Outcome } from './reconcile.ts'

describe('the deployer', () => {
  it('does nothing before the start, then deploys all Gateways', async (t) => {
    const scene = useScene(t)
    scene.deployer.want('shop/a', desiredOf('a'))
    scene.deployer.want('shop/b', desiredOf('b'))
    assert.equal(scene.cluster.lists, 0)
    scene.deployer.start()
    await scene.reports(2)
    assert.deepEqual(scene.reported.map(({ key }) => key).toSorted(), ['shop/a', 'shop/b'])
    for (const { outcome } of scene.reported) assert.equal(outcome.applied.length, 5)
  })

  it('retries after a failure, but not after invalid parameters', async (t) => {
    const scene = useScene(t)
    scene.cluster.failures = 2
    scene.deployer.start()
    scene.deployer.want('shop/a', desiredOf('a'))
    await scene.reports(3)
    assert.deepEqual(
      scene.reported.map(({ outcome }) => outcome.failures),
      [['not now'], ['not now'], []],
    )
    assert.deepEqual(
      scene.reported.map(({ outcome }) => outcome.addresses),
      [null, null, []],
    )
    scene.deployer.want('shop/a', { ...desiredOf('a'), ports: [15_000] })
    await scene.reports(4)
    scene.deployer.want('shop/b', desiredOf('b'))
    await scene.reports(5)
    assert.deepEqual(scene.reported.map(({ key }) => key).slice(3), ['shop/a', 'shop/b'])
  })

  it('runs one attempt at a time for a Gateway, with the newest state', async (t) => {
    const scene = useScene(t)
    const gate = scene.cluster.hold()
    scene.deployer.start()
    scene.deployer.want('shop/a', desiredOf('a', 1))
    await gate.reached
    for (let port = 2; port <= 9; port++) scene.deployer.want('shop/a', desiredOf('a', port))
    gate.open()
    await scene.reports(2)
    assert.equal(scene.cluster.mostAtOnce, 1)
    assert.equal(scene.reported.length, 2)
    const service = scene.cluster.objects.get('Service shop/a')
    assert.match(JSON.stringify(service?.spec), /"port":9,/)
  })

  it('repairs changed objects, and ignores deleted Gateways', async (t) => {
    const scene = useScene(t)
    scene.deployer.start()
    scene.deployer.want('shop/a', desiredOf('a'))
    await scene.reports(1)
    scene.cluster.objects.delete('ConfigMap shop/a')
    scene.deployer.touch('shop/a')
    await scene.reports(2)
    assert.deepEqual(scene.reported[1]?.outcome.applied, ['ConfigMap shop/a'])
    const gate = scene.cluster.hold()
    scene.deployer.touch('shop/a')
    await gate.reached
    scene.deployer.forget('shop/a')
    scene.deployer.touch('shop/a')
    gate.open()
    await scene.deployer.stop()
    assert.equal(scene.reported.length, 2)
  })

  it('removes its objects when a Gateway changes its class, and nothing else', async (t) => {
    const scene = useScene(t)
    scene.deployer.start()
    scene.deployer.want('shop/a', desiredOf('a'))
    await scene.reports(1)
    const [, config] = [...scene.cluster.objects.values()]
    assert.ok(config)
    const foreign = { ...config, metadata: { ...config.metadata, name: 'of-the-user', ownerReferences: [] } }
    scene.cluster.objects.set(nameOf(foreign), foreign)
    scene.cluster.failures = 1
    scene.deployer.release('shop/a', desiredOf('a').gateway)
    await scene.reports(3)
    assert.deepEqual([...scene.cluster.objects.keys()], ['ConfigMap shop/of-the-user'])
    scene.deployer.touch('shop/a')
    await scene.deployer.stop()
    assert.equal(scene.reported.length, 3)
    scene.deployer.start()
    scene.deployer.want('shop/a', desiredOf('a'))
    await scene.reports(4)
    assert.equal(scene.reported.at(-1)?.outcome.applied.length, 5)
  })

  it('removes the objects that an earlier controller deployed when a Gateway changes its class', async (t) => {
    const scene = useScene(t)
    scene.deployer.start()
    scene.deployer.want('shop/a', desiredOf('a'))
    scene.deployer.want('shop/b', desiredOf('b'))
    await scene.reports(2)
    const next = useScene(t, scene.cluster)
    next.deployer.start()
    next.deployer.release('shop/a', desiredOf('a').gateway)
    await next.reports(1)
    assert.deepEqual(next.reported[0]?.outcome.removed.length, 5)
    assert.ok([...scene.cluster.objects.keys()].every((name) => name.includes('shop/b')))
    assert.equal(scene.cluster.objects.size, 5)
  })

  it('deploys again when a Gateway returns to its class during removal', async (t) => {
    const scene = useScene(t)
    scene.deployer.start()
    scene.deployer.want('shop/a', desiredOf('a'))
    await scene.reports(1)
    const gate = scene.cluster.hold()
    scene.deployer.release('shop/a', desiredOf('a').gateway)
    await gate.reached
    scene.deployer.want('shop/a', desiredOf('a'))
    gate.open()
    await scene.reports(3)
    assert.equal(scene.reported[1]?.outcome.removed.length, 5)
    assert.equal(scene.cluster.objects.size, 5)
  })

  it('applies new settings to all Gateways', async (t) => {
    const scene = useScene(t)
    scene.deployer.start()
    scene.deployer.want('shop/a', desiredOf('a'))
    scene.deployer.want('shop/b', desiredOf('b'))
    await scene.reports(2)
    const controller = { address: 'controller.example:9978', ca: 'one' }
    scene.deployer.configure({ ...SETTINGS, controller })
    await scene.reports(4)
    scene.deployer.configure({ ...SETTINGS, controller: { ...controller, ca: 'one and two' } })
    await scene.reports(6)
    const applied = scene.reported.slice(4).flatMap(({ outcome }) => outcome.applied)
    assert.deepEqual(applied.toSorted(), ['ConfigMap shop/a', 'ConfigMap shop/b'])
  })

  it('stops, and starts again when it becomes leader again', async (t) => {
    const scene = useScene(t)
    scene.cluster.failures = Number.POSITIVE_INFINITY
    scene.deployer.start()
    scene.deployer.want('shop/a', desiredOf('a'))
    await scene.reports(1)
    await scene.deployer.stop()
    const before = scene.reported.length
    scene.cluster.failures = 0
    scene.deployer.touch('shop/a')
    await scene.deployer.stop()
    assert.equal(scene.reported.length, before)
    scene.deployer.start()
    await scene.reports(before + 1)
    assert.equal(scene.reported.at(-1)?.outcome.applied.length, 5)
  })

  it('waits for the attempt for a deleted Gateway of the same name', async (t) => {
    const scene = useScene(t)
    const gate = scene.cluster.hold()
    scene.deployer.start()
    scene.deployer.want('shop/a', desiredOf('a'))
    await gate.reached
    scene.deployer.forget('shop/a')
    scene.deployer.want('shop/a', desiredOf('a'))
    gate.open()
    await scene.reports(1)
    assert.equal(scene.cluster.mostAtOnce, 1)
  })

  it('deploys a few Gateways at a time', async (t) => {
    const scene = useScene(t)
    const gate = scene.cluster.hold()
    scene.deployer.start()
    for (let index = 0; index < 20; index++) scene.deployer.want(`shop/g${index}`, desiredOf(`g${index}`))
    await gate.reached
    gate.open()
    await scene.reports(20)
    assert.ok(scene.cluster.mostAtOnce <= 4, String(scene.cluster.mostAtOnce))
  })
})

function desiredOf(name: string, port = 80): DesiredState {
  const gateway = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name, namespace: 'shop', uid: name },
  }
  return { gateway, className: 'portico', ports: [port], levels: [] }
}

const SETTINGS = { image: {}, version: '1.0.0' }

function useScene(t: TestContext, cluster = new SlowCluster()) {
  const reported: { key: string; outcome: Outcome }[] = []
  const waiting = new Set<() => void>()
  const deployer = new Deployer({
    cluster,
    settings: SETTINGS,
    report(key, outcome) {
      reported.push({ key, outcome })
      for (const check of waiting) check()
    },
    createBackoff: () => new Backoff({ firstMs: 1, mostMs: 1 }),
  })
  t.after(() => deployer.stop())
  const reports = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (reported.length >= count) resolve()
      }
      waiting.add(check)
      check()
    })
  return { cluster, reported, deployer, reports }
}

/** A cluster whose first request in an attempt can be delayed or fail. */
class SlowCluster implements Cluster {
  readonly objects = new Map<string, Resource>()
  failures = 0
  lists = 0
  mostAtOnce = 0
  #atOnce = 0
  #gate: { reached: () => void; opened: Promise<void> } | null = null

  hold(): { reached: Promise<void>; open: () => void } {
    const reached = Promise.withResolvers<void>()
    const opened = Promise.withResolvers<void>()
    this.#gate = { reached: reached.resolve, opened: opened.promise }
    return { reached: reached.promise, open: opened.resolve }
  }

  async list(kind: DeployedKind, _namespace: string, labels: Readonly<Record<string, string>>): Promise<Resource[]> {
    this.lists++
    if (kind === 'ServiceAccount') await this.#enter()
    const [label = ['', '']] = Object.entries(labels)
    return [...this.objects.values()].filter(
      (object) => object.kind === kind && object.metadata.labels?.[label[0]] === label[1],
    )
  }

  async #enter(): Promise<void> {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#atOnce)
    this.#gate?.reached()
    await this.#gate?.opened
    this.#atOnce--
    if (this.failures-- > 0) throw new Error('not now')
  }

  async get(kind: DeployedKind, namespace: string, name: string): Promise<Resource | undefined> {
    return this.objects.get(`${kind} ${namespace}/${name}`)
  }

  async apply(object: DeployedObject): Promise<Resource> {
    this.objects.set(nameOf(object), object)
    return object
  }

  async remove(object: Resource): Promise<void> {
    this.objects.delete(nameOf(object))
  }
}
