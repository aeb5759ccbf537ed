import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Candidate, candidate, type Fate, HeldApi, HeldTime, leadersOf } from '../testing/held-election.ts'
import type { Ask } from './kube-client.ts'
import { Election } from './lease.ts'

/** Returns a generator of pseudorandom numbers in [0, 1), which are the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const SCHEDULE_MS = 300_000

/** Runs one schedule; returns the share of the time with a leader, in percent. */
async function runSchedule(seed: number): Promise<number> {
  const random = seeded(seed)
  const time = new HeldTime()
  const slowness = random() ** 3 * 20_000
  const losses = random() * 0.4
  const fate = (): Fate => ({
    there: random() < 0.1 ? random() * slowness : random() * 50,
    back: random() < 0.1 ? random() * slowness : random() * 50,
    isLost: random() > losses ? 'no' : random() < 0.5 ? 'request' : 'response',
    isRefused: random() < losses / 2,
  })
  const api = new HeldApi(time, fate)
  const count = 2 + Math.floor(random() * 3)
  const make = (index: number): Candidate =>
    // Clocks of machines differ in speed by far less than one percent.
    candidate(`${index}`, api, time.clock(random() * 1e9, 0.99 + random() * 0.02))
  const all = Array.from({ length: count }, (_, index) => make(index))
  let ledMs = 0
  let lastAt = 0
  const check = (): void => {
    const leaders = leadersOf(all)
    assert.ok(leaders.length <= 1, `seed ${seed}, at ${time.now} ms: ${leaders.join(' and ')} lead at once`)
    if (leaders.length === 1) ledMs += time.now - lastAt
    lastAt = time.now
  }
  // Some candidates stop gracefully and return under another name.
  let next = count
  for (let at = 30_000; at < SCHEDULE_MS; at += 60_000 * (0.5 + random())) {
    const index = Math.floor(random() * count)
    time.at(at, () => {
      all[index]?.stop.abort()
      all.push(make(next++))
    })
  }
  await time.runUntil(SCHEDULE_MS, check)
  for (const { stop } of all) stop.abort()
  return (100 * ledMs) / SCHEDULE_MS
}

const SCHEDULES = process.env['PROPERTIES'] === 'full' ? 1_000 : 25
/** Each test runs some of the schedules, within the time limit of a test on a loaded machine too. */
const SCHEDULES_OF_TEST = 125

describe('an election', () => {
  for (let first = 1; first <= SCHEDULES; first += SCHEDULES_OF_TEST) {
    const last = Math.min(first + SCHEDULES_OF_TEST - 1, SCHEDULES)
    test(`never has two leaders, even when requests are slow, lost or refused: ${first} to ${last}`, async (t) => {
      const shares: number[] = []
      for (let seed = first; seed <= last; seed++) shares.push(await runSchedule(seed))
      const mean = shares.reduce((a, b) => a + b, 0) / shares.length
      t.diagnostic(`${shares.length} schedules, led ${Math.round(mean)} % of the time`)
      // Every schedule must lead for more than 1 % of the time, because an election that never leads would be safe too.
      assert.ok(
        shares.every((share) => share > 1),
        shares.join(),
      )
    })
  }

  test('has a leader nearly all the time while requests are answered', async () => {
    const time = new HeldTime()
    const api = new HeldApi(time, () => ({ there: 5, back: 5, isLost: 'no', isRefused: false }))
    const all = ['one', 'two'].map((name) => candidate(name, api, time.clock(0, 1)))
    await time.runUntil(60_000, () => assert.ok(leadersOf(all).length <= 1))
    assert.deepEqual(leadersOf(all), ['one'])
    const [first] = all
    assert.equal(first?.times, 1, 'each renewal lets it lead on')
    first?.stop.abort()
    await time.runUntil(65_000, () => assert.ok(leadersOf(all).length <= 1))
    assert.deepEqual(leadersOf(all), ['two'])
    for (const { stop } of all) stop.abort()
  })

  /** Runs an election in which the API server answers no request from this time on. */
  async function silentFrom(from: number, there: number, back: number): Promise<number> {
    const time = new HeldTime()
    let isSilent = false
    const fate = (): Fate => ({ there, back, isLost: isSilent ? 'request' : 'no', isRefused: false })
    const one = candidate('one', new HeldApi(time, fate), time.clock(7e8, 1))
    time.at(from, () => (isSilent = true))
    const led: number[] = []
    await time.runUntil(from + 60_000, () => void (leadersOf([one]).length === 1 && led.push(time.now)))
    one.stop.abort()
    return led.at(-1) ?? 0
  }

  test('ends ten seconds after the last renewal was sent, though the next one hangs', async () => {
    const until = await silentFrom(30_000, 5, 5)
    assert.ok(until > 30_000 && until <= 40_000, `led until ${until}`)
  })

  test('counts from the request for the lease, not from the response', async () => {
    const time = new HeldTime()
    let asked = 0
    const fate = (): Fate => ({
      ...{ there: 1, isRefused: false },
      // The response to the write that takes the lease is delayed by nine seconds; no later request is answered.
      back: ++asked === 2 ? 9_000 : 1,
      isLost: asked > 2 ? 'request' : 'no',
    })
    const one = candidate('one', new HeldApi(time, fate), time.clock(0, 1))
    const led: number[] = []
    await time.runUntil(60_000, () => void (leadersOf([one]).length === 1 && led.push(time.now)))
    one.stop.abort()
    assert.ok(led.length > 0)
    assert.ok((led.at(-1) ?? 0) <= 10_000, `led until ${led.at(-1)}`)
  })

  test('takes over from a silent leader when its lease expires, not before', async () => {
    const time = new HeldTime()
    let isSilent = false
    const api = new HeldApi(time, () => ({ there: 1, back: 1, isLost: 'no', isRefused: false }))
    const cut = { ask: (ask: Ask) => (isSilent ? new Promise<never>(() => {}) : api.ask(ask)) }
    const one = candidate('one', cut, time.clock(5_000, 1))
    await time.runUntil(1_000, () => {})
    const two = candidate('two', api, time.clock(9e8, 1))
    time.at(20_000, () => (isSilent = true))
    let tookAt = 0
    await time.runUntil(80_000, () => {
      const leaders = leadersOf([one, two])
      assert.ok(leaders.length <= 1)
      if (leaders[0] === 'two') tookAt ||= time.now
    })
    for (const { stop } of [one, two]) stop.abort()
    assert.ok(tookAt > 32_000 && tookAt < 40_000, `took over at ${tookAt}`)
  })

  test('leads again soon after one request without a response', async () => {
    const time = new HeldTime()
    let lost = 0
    const fate = (): Fate => {
      const isLost = time.now >= 30_000 && lost++ === 0
      return { there: 5, back: 5, isLost: isLost ? 'request' : 'no', isRefused: false }
    }
    const one = candidate('one', new HeldApi(time, fate), time.clock(7e8, 1))
    await time.runUntil(50_000, () => {})
    assert.ok(lost > 1, `${lost} requests since`)
    assert.deepEqual([one.times, leadersOf([one])], [2, ['one']])
    one.stop.abort()
  })

  test('renews about every two seconds', async () => {
    const time = new HeldTime()
    let requests = 0
    const fate = (): Fate => (requests++, { there: 0, back: 0, isLost: 'no', isRefused: false })
    const one = candidate('one', new HeldApi(time, fate), time.clock(0, 1))
    await time.runUntil(600_000, () => {})
    one.stop.abort()
    // One reads, one writes; between 1.6 and 2.4 seconds lie between two renewals.
    const renewals = requests / 2
    assert.ok(renewals >= 250 && renewals <= 376, `${renewals} renewals in ten minutes`)
  })

  test('rejects options that would allow two leaders', () => {
    const api = new HeldApi(new HeldTime(), () => ({ there: 0, back: 0, isLost: 'no', isRefused: false }))
    const options = { namespace: 'shop', name: 'portico', identity: 'one', leaseMs: 1_000, renewMs: 1_000 }
    assert.throws(() => new Election(api, options), /renewMs \(1000\) must be less than leaseMs \(1000\)/)
  })
})
