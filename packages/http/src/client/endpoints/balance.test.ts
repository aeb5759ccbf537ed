import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { seeded } from '../../../../gateway/src/testing/seeded.ts'
import { choose, scoreOf, type Standing } from './balance.ts'

const usual: Standing = { weight: 1, health: 1, latency: 0.01, pending: 0, evicted: false, tried: false }

const standings = fc.array(
  fc.record({
    weight: fc.integer({ min: 0, max: 5 }),
    health: fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100),
    latency: fc.oneof(fc.constant(0), fc.double({ min: 1e-6, max: 60, noNaN: true })),
    pending: fc.nat({ max: 1000 }),
    evicted: fc.boolean(),
    tried: fc.boolean(),
  }),
  { maxLength: 8 },
)

/** Returns the share of each endpoint in 20,000 draws. */
function sharesOf(list: readonly Standing[], seed = 1): number[] {
  const random = seeded(seed)
  const counts = list.map(() => 0)
  for (let i = 0; i < 20_000; i++) counts[choose(list, random)]!++
  return counts.map((count) => count / 20_000)
}

function assertShares(list: readonly Standing[], expected: readonly number[]): void {
  for (const [index, share] of sharesOf(list).entries()) {
    assert.ok(Math.abs(share - expected[index]!) < 0.02, `${index}: ${share} instead of ${expected[index]}`)
  }
}

test('the score falls with failures, latency and calls under way', () => {
  assert.equal(scoreOf({ ...usual, latency: 1 }, 0), 0.5)
  assert.equal(scoreOf({ ...usual, latency: 1, pending: 10 }, 0), 1 / 3)
  assert.equal(scoreOf({ ...usual, latency: 1, health: 0.5 }, 0), 0.25)
  assert.equal(scoreOf({ ...usual, latency: 0 }, 1), 0.5)
})

test('equals get equal shares', () => {
  assertShares([usual, usual, usual, usual], [0.25, 0.25, 0.25, 0.25])
})

test('the worse of two endpoints gets the quarter in which it is drawn twice, so its recovery is noticed', () => {
  assertShares([usual, { ...usual, latency: 0.5 }], [0.75, 0.25])
  assertShares([usual, { ...usual, health: 0.5 }], [0.75, 0.25])
  assertShares([usual, { ...usual, pending: 50 }], [0.75, 0.25])
})

test('draws follow the weights; an endpoint with weight 0 is never drawn', () => {
  assertShares([{ ...usual, weight: 3 }, usual, { ...usual, weight: 0 }], [0.75, 0.25, 0])
  assert.equal(
    choose([{ ...usual, weight: 0 }], () => 0.5),
    -1,
  )
  assert.equal(
    choose([], () => 0.5),
    -1,
  )
})

test('a new endpoint is taken for an average one', () => {
  const [fast, slow, cold] = [
    { ...usual, latency: 0.01 },
    { ...usual, latency: 0.03 },
    { ...usual, latency: 0 },
  ]
  const shares = sharesOf([fast, slow, cold])
  assert.ok(shares[0]! > shares[2]! && shares[2]! > shares[1]!, shares.join(' '))
})

test('evicted endpoints are left out, unless all are', () => {
  const evicted = { ...usual, evicted: true }
  assertShares([evicted, usual, usual], [0, 0.5, 0.5])
  assertShares([evicted, evicted], [0.5, 0.5])
})

test('a retry prefers untried endpoints, unless only evicted endpoints are untried', () => {
  const tried = { ...usual, tried: true }
  assertShares([tried, usual], [0, 1])
  assertShares([tried, tried], [0.5, 0.5])
  assertShares([tried, { ...usual, evicted: true }], [1, 0])
  assertShares(
    [
      { ...tried, evicted: true },
      { ...usual, evicted: true },
    ],
    [0, 1],
  )
})

test('whatever the endpoints are, one that may be drawn is chosen, and never one of a worse rank than another', () => {
  const rankOf = ({ evicted, tried }: Standing): number => (evicted ? 2 : 0) + (tried ? 1 : 0)
  fc.assert(
    fc.property(standings, fc.integer(), (list, seed) => {
      const index = choose(list, seeded(seed))
      const drawable = list.filter(({ weight }) => weight > 0)
      if (drawable.length === 0) return assert.equal(index, -1)
      const chosen = list[index]!
      assert.ok(chosen.weight > 0)
      assert.equal(rankOf(chosen), Math.min(...drawable.map(rankOf)))
    }),
  )
})

test('among endpoints with equal weights, a better score gets the larger share', () => {
  fc.assert(
    fc.property(standings, fc.integer(), (list, seed) => {
      const equal = list.map((standing) => ({ ...standing, weight: 1, latency: standing.latency || 1 }))
      const fresh = equal.filter(({ evicted, tried }) => !evicted && !tried)
      const shares = sharesOf(fresh, seed)
      for (const [a, share] of shares.entries()) {
        for (const [b, other] of shares.entries()) {
          if (scoreOf(fresh[a]!, 0) > scoreOf(fresh[b]!, 0)) assert.ok(share > other - 0.02, shares.join(' '))
        }
      }
    }),
    { numRuns: 30 },
  )
})
