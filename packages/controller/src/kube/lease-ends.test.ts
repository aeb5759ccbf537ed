import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { candidate, HeldApi, type HeldLease, HeldTime, leadersOf } from '../testing/held-election.ts'
import type { ElectionClock } from './lease.ts'

const LATENCY_MS = 5

function start() {
  const time = new HeldTime()
  const api = new HeldApi(time, () => ({ there: LATENCY_MS, back: LATENCY_MS, isLost: 'no', isRefused: false }))
  return { time, api, run: (ms: number) => time.runUntil(ms, () => {}) }
}

/** A clock that jumps, as that of a process that was paused. */
function jumping(time: HeldTime): { clock: ElectionClock; jump: (ms: number) => void } {
  let jumped = 0
  const held = time.clock(0, 1)
  return { clock: { ...held, now: () => held.now() + jumped }, jump: (ms) => void (jumped += ms) }
}

const spec = (api: HeldApi): HeldLease['spec'] => api.lease?.spec ?? {}

describe('the end of leadership', () => {
  test('comes with the next renewal when another has taken the lease', async () => {
    const { time, api, run } = start()
    const one = candidate('one', api, time.clock(0, 1))
    await run(5_000)
    assert.deepEqual(leadersOf([one]), ['one'])
    api.put({ holderIdentity: 'other', leaseDurationSeconds: 15 })
    await run(8_000)
    assert.deepEqual(leadersOf([one]), [])
    assert.equal(spec(api).holderIdentity, 'other')
    one.stop.abort()
  })

  test('comes when a process that was paused for longer than its lease wakes up', async () => {
    const { time, api, run } = start()
    const { clock, jump } = jumping(time)
    const one = candidate('one', api, clock)
    await run(5_000)
    jump(20_000)
    let endedAt = 0
    await time.runUntil(60_000, () => {
      if (leadersOf([one]).length === 0) endedAt ||= time.now
    })
    // Renewals are at most 2.4 seconds apart; the deadline of the last one is seconds later.
    assert.ok(endedAt > 5_000 && endedAt <= 7_400, `ended at ${endedAt}`)
    one.stop.abort()
  })

  test('a process that was paused while it took the lease does not lead by it', async () => {
    const { time, api, run } = start()
    const { clock, jump } = jumping(time)
    const one = candidate('one', api, clock)
    // The write is under way.
    time.at(3 * LATENCY_MS, () => jump(20_000))
    await run(1_000)
    assert.equal(one.times, 0)
    await run(10_000)
    assert.equal(one.times, 1)
    one.stop.abort()
  })

  test('a candidate that is stopped while it takes the lease never leads, and releases it at once', async () => {
    const { time, api, run } = start()
    const one = candidate('one', api, time.clock(0, 1))
    time.at(3 * LATENCY_MS, () => one.stop.abort())
    await run(8 * LATENCY_MS)
    assert.equal(one.times, 0)
    assert.deepEqual([spec(api).holderIdentity, spec(api).leaseDurationSeconds], ['', 1])
  })

  test('a leader that is stopped releases the lease and asks for nothing else', async () => {
    const { time, api, run } = start()
    const one = candidate('one', api, time.clock(0, 1))
    // Between two renewals: each takes 20 ms, and they are more than a second apart.
    await time.runUntil(200, () => {})
    const before = api.asks.length
    one.stop.abort()
    await run(10_000)
    assert.deepEqual(
      api.asks.slice(before).map((ask) => ask.split(' ')[0]),
      ['GET', 'PUT'],
    )
    assert.equal(spec(api).holderIdentity, '')
  })
})

describe('the Lease', () => {
  test('stands in the namespace and lasts fifteen seconds', async () => {
    const { time, api, run } = start()
    const one = candidate('one', api, time.clock(0, 1))
    await run(100)
    const leases = '/apis/coordination.k8s.io/v1/namespaces/shop/leases'
    assert.deepEqual(api.asks, [`GET ${leases}/portico`, `POST ${leases}`])
    assert.deepEqual([spec(api).leaseDurationSeconds, spec(api).leaseTransitions], [15, 0])
    one.stop.abort()
  })

  test('is rounded up to whole seconds', async () => {
    const { time, api, run } = start()
    const one = candidate('one', api, time.clock(0, 1), { leaseMs: 1_200, renewMs: 800 })
    await run(100)
    assert.equal(spec(api).leaseDurationSeconds, 2)
    one.stop.abort()
  })

  test('keeps the time of its acquisition over renewals, and has a new one for a new holder', async () => {
    const { time, api, run } = start()
    const acquired = '2026-01-01T00:00:00.000000Z'
    api.put({ holderIdentity: 'one', acquireTime: acquired, leaseTransitions: 4, leaseDurationSeconds: 15 })
    const one = candidate('one', api, time.clock(0, 1))
    await run(5_000)
    assert.deepEqual([spec(api).acquireTime, spec(api).leaseTransitions], [acquired, 4])
    one.stop.abort()
    await run(6_000)
    const two = candidate('two', api, time.clock(0, 1))
    await run(7_000)
    assert.notEqual(spec(api).acquireTime, acquired)
    assert.equal(spec(api).leaseTransitions, 5)
    two.stop.abort()
  })

  test('that another candidate wrote first is no error, and one that the server fails to serve is', async () => {
    const time = new HeldTime()
    const errors: unknown[] = []
    let isRefused = false
    const api = new HeldApi(time, () => ({ there: LATENCY_MS, back: LATENCY_MS, isLost: 'no', isRefused }))
    const one = candidate('one', api, time.clock(0, 1), { onError: (error: unknown) => errors.push(error) })
    // The candidate has read that there is no lease, and its write is under way.
    time.at(2.5 * LATENCY_MS, () => api.put({ holderIdentity: 'other', leaseDurationSeconds: 15 }))
    await time.runUntil(1_000, () => {})
    assert.deepEqual([one.times, errors], [0, []])
    isRefused = true
    await time.runUntil(3_000, () => {})
    assert.ok(errors.length > 0)
    one.stop.abort()
  })

  /** The time at which a candidate that asks all the time takes the lease of a silent holder. */
  async function takenAfter(held: HeldLease['spec']): Promise<number> {
    const time = new HeldTime()
    const api = new HeldApi(time, () => ({ there: 0, back: 0, isLost: 'no', isRefused: false }))
    api.put({ holderIdentity: 'silent', ...held })
    const one = candidate('one', api, time.clock(0, 1), { leaseMs: 900, renewMs: 500, retryMs: 1 })
    let at = 0
    await time.runUntil(2_500, () => (at ||= one.times > 0 ? time.now : 0))
    one.stop.abort()
    return at
  }

  test('may be taken from a silent holder after the time that it names, or after our own', async () => {
    const named = await takenAfter({ leaseDurationSeconds: 2 })
    assert.ok(named > 2_000 && named < 2_002, `taken after ${named} ms`)
    const unnamed = await takenAfter({})
    assert.ok(unnamed > 900 && unnamed < 900.9 + 1.2, `taken after ${unnamed} ms`)
  })
})
