import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../testing/scene.ts'
import { Exporter } from './exporter.ts'
import { exportLimits, type ExportLimits } from './export-limits.ts'
import type { Deliver, Delivery } from './retrying-sender.ts'

const TAKEN: Delivery = { kind: 'taken', rejected: 0, message: '' }
const item = Buffer.from('item')
/** With its tag and length. */
const SIZE = item.length + 2

interface Stand {
  exporter: Exporter
  /** Items of each request. */
  requests: number[]
  sent: number
  dropped: Record<string, number>
  warnings: string[]
  busy: Set<Exporter>
}

function stand(
  deliver: (number: number, request: Buffer) => Delivery | Promise<Delivery>,
  limits: Partial<ExportLimits> = {},
): Stand {
  const warnings: string[] = []
  const busy = new Set<Exporter>()
  const made: Omit<Stand, 'exporter'> = { requests: [], sent: 0, dropped: {}, warnings, busy }
  const send: Deliver = async (request) => deliver(made.requests.push(request.length / SIZE), request)
  const note = (text: string, fields?: object): void => void warnings.push(`${text} ${JSON.stringify(fields)}`)
  const exporter = new Exporter({
    wrap: (items) => Buffer.from(items),
    deliver: send,
    counts: {
      sent: (count) => (made.sent += count),
      dropped: (count, reason) => (made.dropped[reason] = (made.dropped[reason] ?? 0) + count),
    },
    limits: { ...exportLimits, delayMs: 5, firstPauseMs: 1, maxPauseMs: 2, retryMs: 10_000, ...limits },
    log: { module: '', enabled: () => true, error: note, warn: note, info: note, debug: note, trace: note },
    to: 'collector',
    busy,
  })
  return Object.assign(made, { exporter })
}

function add({ exporter }: Stand): void {
  exporter.begin().raw(item)
  exporter.added()
}

test('few items wait for others, many go at once', async () => {
  const few = stand(() => TAKEN)
  for (let i = 0; i < 3; i++) add(few)
  assert.deepEqual(few.requests, [])
  await until(() => few.sent === 3)
  assert.deepEqual([few.requests, few.busy.size], [[3], 0])

  const many = stand(() => TAKEN, { batchItems: 4, delayMs: 3_600_000 })
  for (let i = 0; i < 8; i++) add(many)
  await until(() => many.sent === 8)
  assert.deepEqual(many.requests, [4, 4])

  const large = stand(() => TAKEN, { batchBytes: 2 * SIZE, delayMs: 3_600_000 })
  for (let i = 0; i < 4; i++) add(large)
  await until(() => large.sent === 4)
  assert.deepEqual(large.requests, [2, 2])
})

test('a collector that hangs costs a full queue, and nothing more', async () => {
  const answer = Promise.withResolvers<Delivery>()
  const hung = stand(() => answer.promise, { batchItems: 10, queueItems: 100 })
  for (let i = 0; i < 1000; i++) add(hung)
  assert.deepEqual([hung.requests, hung.dropped], [[10], { queue_full: 890 }])
  answer.resolve(TAKEN)
  await until(() => hung.sent === 110)

  const bytes = stand(() => answer.promise, { queueBytes: 10 * SIZE })
  for (let i = 0; i < 15; i++) add(bytes)
  assert.deepEqual(bytes.dropped, { queue_full: 5 })
  await until(() => bytes.sent === 10)
})

test('records that may be sent again are retried, and one log line reports it', async () => {
  const failing = stand((number) => (number < 4 ? { kind: 'later', cause: 'not now', afterMs: null } : TAKEN))
  add(failing)
  await until(() => failing.sent === 1)
  assert.deepEqual([failing.requests, failing.dropped], [[1, 1, 1, 1], {}])
  assert.deepEqual(failing.warnings, [
    'telemetry is not exported {"to":"collector","cause":"not now","dropped":0}',
    'telemetry is exported again {"to":"collector"}',
  ])
})

test('records that are refused, rejected or retried for too long are dropped and counted', async () => {
  const refused = stand(() => ({ kind: 'refused', cause: 'no' }))
  add(refused)
  await until(() => refused.dropped['refused'] === 1)

  const broken = stand(() => {
    throw new Error('a bug')
  })
  add(broken)
  await until(() => broken.dropped['refused'] === 1)
  assert.match(broken.warnings[0] ?? '', /a bug/)

  const rejected = stand(() => ({ kind: 'taken', rejected: 2, message: 'bad ones' }))
  for (let i = 0; i < 3; i++) add(rejected)
  await until(() => rejected.dropped['rejected'] === 2)
  assert.equal(rejected.sent, 1)

  const dead = stand(() => ({ kind: 'later', cause: 'dead', afterMs: null }), { retryMs: 2_000 })
  add(dead)
  await until(() => dead.requests.length > 2)
  await until(() => dead.dropped['unreachable'] === 1)
  assert.deepEqual([dead.sent, dead.busy.size], [0, 0])
})

test('a collector that asks for time gets it, within bounds', async () => {
  const times: number[] = []
  const asking = stand((number) => {
    times.push(performance.now())
    return number === 1 ? { kind: 'later', cause: 'busy', afterMs: 60 } : TAKEN
  })
  add(asking)
  await until(() => asking.sent === 1)
  const [first = 0, second = 0] = times
  assert.ok(second - first >= 55, `${second - first} ms`)
  const endless = stand(() => ({ kind: 'later', cause: 'busy', afterMs: 3_600_000 }), { retryMs: 30 })
  add(endless)
  await until(() => endless.dropped['unreachable'] === 1)
})

test('a flush sends everything at once, and gives up in time', async () => {
  const waiting = stand(() => TAKEN, { delayMs: 3_600_000, batchItems: 2 })
  add(waiting)
  await waiting.exporter.flush(10_000)
  assert.deepEqual([waiting.sent, waiting.busy.size], [1, 0])
  // Records that come after a flush are sent at once.
  await waiting.exporter.flush(10_000)
  add(waiting)
  await waiting.exporter.flush(10_000)
  assert.deepEqual([waiting.sent, waiting.busy.size], [2, 0])

  const pausing = stand((number) => (number === 1 ? { kind: 'later', cause: 'busy', afterMs: 3_600_000 } : TAKEN), {
    retryMs: 3_600_000,
  })
  add(pausing)
  await until(() => pausing.requests.length === 1)
  await pausing.exporter.flush(10_000)
  assert.equal(pausing.sent, 1)

  const hung = stand(() => new Promise<Delivery>(() => {}), { batchItems: 2 })
  for (let i = 0; i < 5; i++) add(hung)
  await hung.exporter.flush(30)
  assert.deepEqual(hung.dropped, { shutdown: 5 })
})

test('one that fails while the process ends is tried until the end of its time', async () => {
  const dead = stand(() => ({ kind: 'later', cause: 'dead', afterMs: null }))
  add(dead)
  await dead.exporter.flush(50)
  assert.deepEqual([dead.sent, dead.dropped], [0, { shutdown: 1 }])
  assert.ok(dead.requests.length > 1)
})

test('a request in flight stays unchanged while records are added, and is retried unchanged', async () => {
  const answers: PromiseWithResolvers<Delivery>[] = []
  const seen: Buffer[] = []
  const busy = stand(
    (_number, request) => {
      seen.push(request)
      const answer = Promise.withResolvers<Delivery>()
      answers.push(answer)
      return answer.promise
    },
    { batchItems: 2 },
  )
  const whole = Buffer.from([0x12, item.length, ...item])
  const expected = Buffer.concat([whole, whole])
  const later = { kind: 'later', cause: 'no', afterMs: null } as const
  for (const [number, answer] of [later, TAKEN, TAKEN, TAKEN].entries()) {
    for (let i = 0; i < 2; i++) add(busy)
    await until(() => answers.length === number + 1)
    for (let i = 0; i < 2; i++) add(busy)
    for (const request of seen.slice(number)) assert.deepEqual(request, expected)
    answers[number]?.resolve(answer)
  }
  await until(() => answers.length === 5)
  assert.deepEqual(seen.at(-1), expected)
})

test('at the end, a collector that was away before gets one more try and no more time', async () => {
  const away = stand(() => ({ kind: 'later', cause: 'refused', afterMs: null }), {
    firstPauseMs: 60_000,
    maxPauseMs: 60_000,
  })
  add(away)
  await until(() => away.requests.length === 1)
  await away.exporter.flush(3_600_000)
  assert.deepEqual([away.requests, away.dropped], [[1, 1], { shutdown: 1 }])
})
