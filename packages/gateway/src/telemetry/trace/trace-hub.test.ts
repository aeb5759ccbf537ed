import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import type { TraceEvent, TraceFromWorker, TraceToWorker } from './trace-event.ts'
import { TraceHub } from './trace-hub.ts'
import { TRACE_SLOTS } from './trace-slots.ts'
import { TraceWatch } from './trace-watch.ts'

describe('watchers', () => {
  test('are ready when every worker has answered, and not before', () => {
    const scene = new Scene()
    const [first, second] = [scene.worker(), scene.worker()]
    const client = scene.watch()
    first.hear()
    assert.deepEqual(client.heard, [])
    assert.equal(first.watch.armed, false)
    scene.deliver()
    second.hear()
    scene.deliver()
    assert.deepEqual(client.heard, ['ready'])
    assert.ok(first.watch.armed && second.watch.armed)
  })

  test('are ready at once while there are no workers, and known to those that are born then', () => {
    const scene = new Scene()
    const client = scene.watch()
    assert.deepEqual(client.heard, ['ready'])
    const worker = scene.worker()
    worker.hear()
    worker.serve('a')
    scene.deliver()
    assert.deepEqual(client.heard, ['ready', 'requestStarted a', 'requestFinished a', 'end'])
  })

  test('do not wait for a worker that died without an answer', () => {
    const scene = new Scene()
    const [alive, dying] = [scene.worker(), scene.worker()]
    const client = scene.watch()
    alive.hear()
    scene.deliver()
    assert.deepEqual(client.heard, [])
    dying.die()
    assert.deepEqual(client.heard, ['ready'])
  })

  test('each take one request, in the order they came', () => {
    const scene = new Scene()
    const workers = [scene.worker(), scene.worker()]
    const clients = [scene.watch(), scene.watch(), scene.watch()]
    scene.settle()
    for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) workers[index % 2]!.serve(name)
    scene.settle()
    assert.deepEqual(
      clients.map((client) => client.heard),
      ['a', 'b', 'c'].map((name) => ['ready', `requestStarted ${name}`, `requestFinished ${name}`, 'end']),
    )
    assert.ok(workers.every(({ watch }) => !watch.armed))
  })

  test('are counted as armed no more once their request has begun', () => {
    const hub = new TraceHub()
    const armed = (): number => Atomics.load(new Int32Array(hub.shared), 0)
    const heard: TraceToWorker[] = []
    hub.born(0, (message) => heard.push(message))
    hub.watch(null, { ready() {}, event() {}, end() {} })
    const [asked] = heard
    assert.ok(asked?.type === 'watch')
    hub.received(0, { type: 'watching', id: asked.id })
    assert.equal(armed(), 1)
    const message = { type: 'requestStarted' } as unknown as TraceEvent['message']
    const event: TraceEvent = { eventStart: null, eventEnd: 1, severity: 'info', message }
    hub.received(0, { type: 'traced', id: asked.id, event })
    assert.equal(armed(), 0)
    assert.deepEqual(heard.at(-1), { type: 'unwatch', id: asked.id })
  })

  test('with an expression wait for the first request for which it is true', () => {
    const scene = new Scene()
    const worker = scene.worker()
    const [picky, any] = [scene.watch('x'), scene.watch()]
    scene.settle()
    for (const name of ['a', 'b', 'x', 'x']) worker.serve(name)
    scene.settle()
    assert.deepEqual(any.heard, ['ready', 'requestStarted a', 'requestFinished a', 'end'])
    assert.deepEqual(picky.heard, ['ready', 'requestStarted x', 'requestFinished x', 'end'])
  })

  test('with an expression that cannot be compiled take no request and harm no other watcher', () => {
    const scene = new Scene()
    const worker = scene.worker()
    const [broken, any] = [scene.watch('!'), scene.watch()]
    scene.settle()
    worker.serve('a')
    scene.settle()
    assert.deepEqual(broken.heard, ['ready'])
    assert.equal(any.heard.at(-1), 'end')
  })

  test('that left before their request give their place to others', () => {
    const scene = new Scene()
    const worker = scene.worker()
    const clients = Array.from({ length: TRACE_SLOTS }, () => scene.watch())
    assert.ok(scene.hub.isFull)
    assert.throws(() => scene.watch(), RangeError)
    scene.settle()
    clients[0]!.leave()
    assert.ok(!scene.hub.isFull)
    const late = scene.watch()
    scene.settle()
    worker.serve('a')
    scene.settle()
    assert.deepEqual(clients[0]!.heard, ['ready'])
    assert.equal(clients[1]!.heard.at(-1), 'end')
    assert.deepEqual(late.heard, ['ready'], 'it is the last one, whatever place it has')
  })

  test('that left take no request, even from a worker that has not heard of it', () => {
    const scene = new Scene()
    const worker = scene.worker()
    const [gone, next] = [scene.watch(), scene.watch()]
    scene.settle()
    gone.leave()
    worker.serve('a')
    scene.settle()
    assert.deepEqual(gone.heard, ['ready'])
    assert.deepEqual(next.heard, ['ready', 'requestStarted a', 'requestFinished a', 'end'])
  })

  test('that left in the middle hear nothing more, and the place is free for the next', () => {
    const scene = new Scene()
    const worker = scene.worker()
    const client = scene.watch()
    scene.settle()
    const sink = worker.watch.claim('a')!
    sink(event('requestStarted', 'a'))
    scene.settle()
    client.leave()
    const next = scene.watch()
    scene.settle()
    sink(event('requestFinished', 'a'))
    scene.settle()
    assert.deepEqual(client.heard, ['ready', 'requestStarted a'])
    assert.deepEqual(next.heard, ['ready'])
    worker.die()
    assert.deepEqual(next.heard, ['ready'], 'the place is no longer that of the dead one')
  })
})

describe('the death of a worker', () => {
  test('ends the stream of the request it had, also when it never said that it had it', () => {
    for (const hasSpoken of [true, false]) {
      const scene = new Scene()
      const [other, worker] = [scene.worker(), scene.worker()]
      const [client, pending] = [scene.watch(), scene.watch()]
      scene.settle()
      const sink = worker.watch.claim('a')!
      if (hasSpoken) sink({ ...event('requestStarted', 'a'), eventEnd: 7 })
      scene.settle()
      worker.die()
      assert.deepEqual(client.heard.slice(hasSpoken ? 2 : 1), ['requestFinished worker died', 'end'])
      const last = client.events.at(-1)!
      assert.deepEqual([last.eventStart, last.eventEnd, last.severity], [null, hasSpoken ? 7 : 0, 'error'])
      assert.deepEqual(pending.heard, ['ready'])
      other.serve('b')
      scene.settle()
      assert.equal(pending.heard.at(-1), 'end')
    }
  })
})

describe('a worker', () => {
  test('has nothing to do while nobody watches', () => {
    const scene = new Scene()
    const worker = scene.worker()
    assert.equal(worker.watch.armed, false)
    scene.watch().leave()
    scene.settle()
    assert.equal(worker.watch.armed, false)
    assert.equal(worker.watch.claim('a'), null)
  })

  test('goes on when an event cannot be sent', () => {
    const scene = new Scene()
    const worker = scene.worker()
    const client = scene.watch()
    scene.settle()
    const sink = worker.watch.claim('a')!
    const finished = event('requestFinished', 'a')
    sink({ ...finished, message: { ...finished.message, callback: () => {} } })
    scene.settle()
    assert.equal(client.heard.at(-1), 'end')
    assert.match(String(client.events[0]!.message['unsent']), /could not be cloned/)
  })
})

test('whatever happens, each watcher gets at most one request, no request two watchers, and the first come first', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant({ kind: 'watch' } as const) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('serve' as const), worker: fc.nat() }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('hear' as const), worker: fc.nat() }) },
    { weight: 4, arbitrary: fc.constant({ kind: 'deliver' } as const) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave' as const), client: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('die' as const), worker: fc.nat() }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'born' } as const) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const scene = new Scene()
      let workers = [scene.worker(), scene.worker()]
      const clients: ReturnType<Scene['watch']>[] = []
      let served = 0
      for (const { kind, ...given } of steps) {
        const worker = 'worker' in given ? workers[given.worker % Math.max(1, workers.length)] : undefined
        if (kind === 'watch' && !scene.hub.isFull) clients.push(scene.watch())
        if (kind === 'serve') worker?.serve(`r${served++}`)
        if (kind === 'hear') worker?.hear()
        if (kind === 'deliver') scene.deliver()
        if (kind === 'leave' && 'client' in given) clients[given.client % Math.max(1, clients.length)]?.leave()
        if (kind === 'born') workers.push(scene.worker())
        if (kind === 'die') {
          worker?.die()
          workers = workers.filter((one) => one !== worker)
        }
      }
      scene.settle()
      const taken = clients.map(({ heard }) => heard.filter((line) => line.startsWith('requestStarted')))
      assert.ok(taken.every((lines) => lines.length <= 1))
      assert.equal(new Set(taken.flat()).size, taken.flat().length)
      for (const { heard } of clients) if (heard.includes('end')) assert.equal(heard.filter(isLast).length, 1)
      // Those that are still here can all have a request, and get them in order.
      const waiting = clients.filter(({ heard, hasLeft }) => !hasLeft() && heard.at(-1) === 'ready')
      const survivor = workers[0] ?? scene.worker()
      scene.settle()
      for (const index of waiting.keys()) survivor.serve(`late${index}`)
      scene.settle()
      assert.deepEqual(
        waiting.map(({ heard }) => heard.at(-2)),
        waiting.map((_, index) => `requestFinished late${index}`),
      )
      assert.equal(survivor.watch.armed, false)
    }),
    { seed: 3, numRuns: 500 },
  )
})

const isLast = (line: string): boolean => line.startsWith('requestFinished')

/** A hub and workers between which messages go when the test says so. */
class Scene {
  readonly hub = new TraceHub()
  readonly #toMain: (() => void)[] = []
  readonly #workers = new Set<FakeWorker>()
  #born = 0

  worker(): FakeWorker {
    const number = this.#born++
    const worker = new FakeWorker(this.hub, number, (deliver) => this.#toMain.push(deliver), {
      died: () => this.#workers.delete(worker),
    })
    this.#workers.add(worker)
    this.hub.born(number, (message) => worker.inbox.push(structuredClone(message)))
    return worker
  }

  watch(expression: string | null = null) {
    const heard: string[] = []
    const events: TraceEvent[] = []
    let left = false
    const leave = this.hub.watch(expression, {
      ready: () => heard.push('ready'),
      event(event) {
        events.push(event)
        heard.push(`${event.message.type} ${String(event.message['request'] ?? event.message['error'])}`)
      },
      end: () => heard.push('end'),
    })
    return {
      heard,
      events,
      hasLeft: () => left,
      leave() {
        left = true
        leave()
      },
    }
  }

  /** Delivers the messages of workers to the main thread. */
  deliver(): void {
    for (const deliver of this.#toMain.splice(0)) deliver()
  }

  settle(): void {
    for (let round = 0; round < 3; round++) {
      for (const worker of this.#workers) worker.hear()
      this.deliver()
    }
  }
}

class FakeWorker {
  readonly watch: TraceWatch<string>
  readonly inbox: TraceToWorker[] = []
  readonly #die: () => void

  constructor(hub: TraceHub, number: number, send: (deliver: () => void) => void, { died }: { died: () => void }) {
    const sent: (() => void)[] = []
    this.watch = new TraceWatch({
      shared: hub.shared,
      worker: number,
      compile(expression) {
        if (expression === '!') throw new Error('cannot be compiled')
        return (subject) => subject === expression
      },
      post(message: TraceFromWorker) {
        const copy = structuredClone(message)
        let isDelivered = false
        const deliver = (): void => {
          if (!isDelivered) hub.received(number, copy)
          isDelivered = true
        }
        sent.push(deliver)
        send(deliver)
      },
    })
    this.#die = () => {
      died()
      // The runtime delivers what a thread has sent before it tells of its end.
      for (const deliver of sent) deliver()
      hub.died(number)
    }
  }

  /** Takes the messages of the main thread. */
  hear(): void {
    for (const message of this.inbox.splice(0)) this.watch.take(message)
  }

  serve(request: string): void {
    const sink = this.watch.armed ? this.watch.claim(request) : null
    sink?.(event('requestStarted', request))
    sink?.(event('requestFinished', request))
  }

  die(): void {
    this.#die()
  }
}

function event(type: string, request: string): TraceEvent {
  return { eventStart: null, eventEnd: 0, severity: 'info', message: { type, request } }
}
