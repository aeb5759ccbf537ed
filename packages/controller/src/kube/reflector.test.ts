import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import type { Resource } from '@portico/translate'
import { answer, type ReceivedRequest, failCall, useScriptedApi } from '../testing/scripted-api.ts'
import type { ApiKind } from './kinds.ts'
import { Reflector, type ReflectorOptions } from './reflector.ts'

const KIND: ApiKind = { group: 'shop.example', version: 'v1', kind: 'Cup', plural: 'cups', namespaced: true }
const PATH = '/apis/shop.example/v1/cups'

const cup = (name: string, version: number, more: object = {}) => ({
  metadata: { name, namespace: 'a', uid: `uid-${name}`, resourceVersion: String(version), ...more },
})
const list = (version: number, ...items: object[]) => ({ metadata: { resourceVersion: String(version) }, items })
const event = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`

test('lists page by page, then follows changes', async (t) => {
  const scene = await useReflector(t, {
    lists: [
      (asked, response) => {
        assert.deepEqual([asked.path, asked.query.get('limit'), asked.query.get('labelSelector')], [PATH, '1', 'x=y'])
        answer(response, 200, { ...list(7, cup('one', 3)), metadata: { resourceVersion: '7', continue: 'next' } })
      },
      (asked, response) => {
        assert.equal(asked.query.get('continue'), 'next')
        answer(response, 200, list(7, cup('two', 4, { managedFields: [{ manager: 'x' }] })))
      },
    ],
    watches: [
      (asked, response) => {
        const { resourceVersion, allowWatchBookmarks, labelSelector } = Object.fromEntries(asked.query)
        assert.deepEqual([resourceVersion, allowWatchBookmarks, labelSelector], ['7', 'true', 'x=y'])
        response.write(
          event('ADDED', cup('three', 8)) + event('DELETED', cup('one', 9)) + event('MODIFIED', cup('two', 10)),
        )
      },
    ],
    options: { pageSize: 1, labelSelector: 'x=y' },
  })
  await scene.until(() => scene.keys().join() === 'a/three,a/two' && scene.version('a/two') === '10')
  assert.deepEqual(scene.changes, ['+a/one', '+a/two', 'synced', '+a/three', '-a/one', '+a/two'])
  const two = scene.reflector.items.get('a/two')
  assert.deepEqual([two?.apiVersion, two?.kind], ['shop.example/v1', 'Cup'])
  assert.equal(JSON.stringify([...scene.reflector.items]).includes('managedFields'), false)
})

test('a watch asks the server for its time, or up to twice as long', async (t) => {
  const seconds: number[] = []
  const end = (asked: ReceivedRequest, response: ServerResponse): void => {
    seconds.push(Number(asked.query.get('timeoutSeconds')))
    response.end(event('ADDED', cup(`cup-${seconds.length}`, 1 + seconds.length)))
  }
  const scene = await useReflector(t, {
    lists: [(_, response) => answer(response, 200, list(1))],
    watches: [end, end, end],
    options: { watchSeconds: 1_000 },
  })
  await scene.until(() => scene.keys().length === 3)
  for (const each of seconds) assert.ok(each >= 1_000 && each <= 2_000, String(each))
})

test('a watch cut in the middle of a line resumes after the last complete line', async (t) => {
  const scene = await useReflector(t, {
    lists: [(_, response) => answer(response, 200, list(1))],
    watches: [
      (_, response) => {
        response.write(event('ADDED', cup('one', 2)) + event('ADDED', cup('two', 3)).slice(0, 40))
        response.write('', () => response.destroy())
      },
      (asked, response) => {
        assert.equal(asked.query.get('resourceVersion'), '2')
        response.write(event('ADDED', cup('two', 3)))
      },
    ],
  })
  await scene.until(() => scene.keys().length === 2)
  assert.deepEqual(
    scene.changes.filter((one) => one !== 'trouble'),
    ['synced', '+a/one', '+a/two'],
  )
})

test('a watch that the server ends resumes from the last bookmark', async (t) => {
  const scene = await useReflector(t, {
    lists: [(_, response) => answer(response, 200, list(1, cup('one', 1)))],
    watches: [
      (_, response) => response.end(event('BOOKMARK', { metadata: { resourceVersion: '50' } })),
      (asked, response) => {
        assert.equal(asked.query.get('resourceVersion'), '50')
        response.write(event('MODIFIED', cup('one', 51)))
      },
    ],
  })
  await scene.until(() => scene.version('a/one') === '51')
  assert.deepEqual(scene.changes, ['+a/one', 'synced', '+a/one'])
})

for (const [how, expire] of [
  ['in the stream', (response: ServerResponse) => response.end(event('ERROR', { code: 410, message: 'too old' }))],
  ['as an answer', (response: ServerResponse) => failCall(response, 410, 'too old')],
] as const) {
  test(`410 ${how}: everything is listed again, and only differences are reported`, async (t) => {
    const scene = await useReflector(t, {
      lists: [
        (_, response) => answer(response, 200, list(1, cup('one', 1), cup('two', 1), cup('three', 1))),
        (_, response) => answer(response, 200, list(90, cup('one', 1), cup('two', 80))),
      ],
      watches: [(_, response) => expire(response), (asked) => assert.equal(asked.query.get('resourceVersion'), '90')],
    })
    await scene.until(() => scene.changes.filter((one) => one === 'synced').length === 2)
    assert.deepEqual(scene.changes.slice(4), ['-a/three', '+a/two', 'synced'])
  })
}

test('an expired page restarts the list', async (t) => {
  const scene = await useReflector(t, {
    lists: [
      (_, response) =>
        answer(response, 200, { ...list(1, cup('one', 1)), metadata: { resourceVersion: '1', continue: 'n' } }),
      (_, response) => failCall(response, 410, 'the continue token is too old'),
      (asked, response) => {
        assert.equal(asked.query.get('continue'), null)
        answer(response, 200, list(5, cup('two', 4)))
      },
    ],
  })
  await scene.until(() => scene.keys().join() === 'a/two')
})

test('a recreated object is a new object', async (t) => {
  const scene = await useReflector(t, {
    lists: [(_, response) => answer(response, 200, list(1, cup('one', 1)))],
    watches: [(_, response) => response.end(event('ERROR', { code: 410 }))],
    after: (_, response) => answer(response, 200, list(2, cup('one', 1, { uid: 'other' }))),
  })
  await scene.until(() => scene.reflector.items.get('a/one')?.metadata.uid === 'other')
})

test('a missing kind is awaited; when it disappears, its objects do', async (t) => {
  const scene = await useReflector(t, {
    lists: [
      (_, response) => failCall(response, 404, 'the server could not find the requested resource'),
      (_, response) => failCall(response, 404, 'the server could not find the requested resource'),
      (_, response) => answer(response, 200, list(3, cup('one', 2))),
      (_, response) => failCall(response, 404, 'the server could not find the requested resource'),
    ],
    watches: [(_, response) => failCall(response, 404, 'gone')],
    options: { missingMs: 1 },
  })
  await scene.until(() => scene.changes.includes('-a/one'))
  assert.deepEqual(scene.changes.slice(0, 6), ['missing', 'missing', '+a/one', 'synced', '-a/one', 'missing'])
})

test('after an outage a successful response resets the backoff', async (t) => {
  const failing: Step = (_, response) => failCall(response, 503, 'down')
  const broken: Step = (_, response) => void response.destroy()
  const startedAt = performance.now()
  const scene = await useReflector(t, {
    lists: [...Array<Step>(9).fill(failing), (_, response) => answer(response, 200, list(1, cup('one', 1)))],
    watches: [...Array<Step>(4).fill(broken), (_, response) => response.write(event('ADDED', cup('two', 2)))],
    options: { backoff: { firstMs: 2, mostMs: 60_000, random: () => 1 } },
  })
  await scene.until(() => scene.keys().length === 1)
  const outage = performance.now() - startedAt
  await scene.until(() => scene.keys().length === 2)
  // Without the reset, the next wait would be as long as all waits before.
  assert.ok(performance.now() - startedAt - outage < outage)
})

test('a watch that the server never opens is retried', async (t) => {
  const held: Step = () => HELD
  const scene = await useReflector(t, {
    lists: [(_, response) => answer(response, 200, list(1))],
    watches: [held, held, (_, response) => response.write(event('ADDED', cup('one', 2)))],
    options: { openMs: 20 },
  })
  await scene.until(() => scene.keys().length === 1)
  const late = `GET ${PATH}: request timed out`
  assert.ok(scene.troubles.length >= 2 && scene.troubles.every((trouble) => trouble === late), scene.troubles.join())
})

test('errors of the server are retried and reported', async (t) => {
  const scene = await useReflector(t, {
    lists: [
      // A broken request on a kept connection is retried silently, so the connection is closed.
      (_, response) => failCall(response, 500, 'etcd is away', { connection: 'close' }),
      (_, response) => response.destroy(),
      (_, response) => failCall(response, 503, 'starting', { 'retry-after': '0' }),
      (_, response) => answer(response, 200, { surprise: true }),
      (_, response) => answer(response, 200, list(3, cup('one', 2))),
    ],
    watches: [
      (_, response) => failCall(response, 403, 'may not watch'),
      (_, response) => response.write(event('ADDED', cup('two', 4))),
    ],
  })
  await scene.until(() => scene.keys().length === 2)
  assert.deepEqual(scene.troubles, [
    `GET ${PATH}: 500 etcd is away`,
    `GET ${PATH}: socket hang up`,
    `GET ${PATH}: 503 starting`,
    `GET ${PATH}: response is not a list`,
    `GET ${PATH}: 403 may not watch`,
  ])
})

test('a server that ends every watch at once is asked with backoff', async (t) => {
  const scene = await useReflector(t, {
    lists: [(_, response) => answer(response, 200, list(1))],
    watches: [
      (_, response) => response.end(),
      (_, response) => response.end(),
      (asked, response) => {
        assert.equal(asked.query.get('resourceVersion'), '1')
        response.write(event('ADDED', cup('one', 2)))
      },
    ],
  })
  await scene.until(() => scene.keys().length === 1)
  assert.deepEqual(scene.troubles, [])
})

test('an event without a named object is skipped', async (t) => {
  const scene = await useReflector(t, {
    lists: [(_, response) => answer(response, 200, list(1, { metadata: {} }, cup('one', 1)))],
    watches: [(_, response) => response.write(event('ADDED', { metadata: 4 }) + event('ADDED', cup('two', 2)))],
  })
  await scene.until(() => scene.keys().join() === 'a/one,a/two')
})

/** A watch step may return `HELD`: no response, not even a head. */
type Step = (asked: ReceivedRequest, response: ServerResponse) => unknown

const HELD = Symbol('held')

interface Scripts {
  /** Responses to lists, in order. */
  lists: readonly Step[]
  watches?: readonly Step[]
  /** The response to further lists. */
  after?: Step
  options?: ReflectorOptions
}

async function useReflector(t: TestContext, { lists, watches = [], after, options = {} }: Scripts) {
  const [listSteps, watchSteps] = [[...lists], [...watches]]
  const failures: unknown[] = []
  const api = await useScriptedApi(t, (asked, response) => {
    const isWatch = asked.query.get('watch') === 'true'
    const step = (isWatch ? watchSteps : listSteps).shift() ?? (isWatch ? undefined : after)
    try {
      // A watch without a step stays silent.
      const isHeld = step?.(asked, response) === HELD
      if (isWatch && !isHeld && !response.headersSent && !response.destroyed) response.flushHeaders()
    } catch (error) {
      failures.push(error)
      response.destroy()
    }
  })
  const changes: string[] = []
  const troubles: string[] = []
  let check = (): void => undefined
  const tell = (change: string): void => {
    changes.push(change)
    check()
  }
  const watcher = {
    changed: (key: string, resource: Resource | undefined) => tell(`${resource === undefined ? '-' : '+'}${key}`),
    synced: (isMissing: boolean) => tell(isMissing ? 'missing' : 'synced'),
    onError: (error: Error) => {
      troubles.push(error.message)
      tell('trouble')
    },
  }
  const reflector = new Reflector(api.client, KIND, watcher, { backoff: { firstMs: 1, mostMs: 2 }, ...options })
  const ended = new AbortController()
  const running = reflector.run(ended.signal)
  t.after(async () => {
    ended.abort()
    await running
  })
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      check = () => {
        if (failures.length > 0) reject(failures[0])
        if (holds()) resolve()
      }
      check()
    })
  const keys = (): string[] => [...reflector.items.keys()].toSorted()
  const version = (key: string): string | undefined => reflector.items.get(key)?.metadata.resourceVersion
  return { reflector, changes, troubles, until, keys, version }
}
