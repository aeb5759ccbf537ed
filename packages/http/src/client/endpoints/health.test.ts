import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  afterHealthy,
  afterUnhealthy,
  atTime,
  type EvictionRule,
  fromWord,
  FULL_SCORE,
  type Health,
  HEALTHY,
  isEvicted,
  toWord,
} from './endpoint.ts'

const plain: EvictionRule = { durationMs: 3000, restoreHealth: null, consecutiveFailures: 0, healthThreshold: null }

function fail(times: number, rule: EvictionRule | null, health: Health = HEALTHY, now = 1000): Health {
  for (let i = 0; i < times; i++) health = afterUnhealthy(health, now, rule)
  return health
}

test('without an eviction rule only the score moves', () => {
  const health = fail(100, null)
  assert.equal(isEvicted(health, 1000), false)
  assert.equal(health.score, 0)
  assert.equal(fail(1, null).score, 7000)
  assert.equal(fail(2, null).score, 4900)
  assert.equal(afterHealthy(fail(2, null), 1000, null).score, 6430)
})

test('a score climbs back to full', () => {
  let health = fail(20, null)
  for (let i = 0; i < 40; i++) health = afterHealthy(health, 1000, null)
  assert.deepEqual(health, HEALTHY)
})

test('healthy → evicted: with neither condition, by one unhealthy answer, for the duration', () => {
  const health = fail(1, plain)
  assert.equal(isEvicted(health, 3999), true)
  assert.equal(isEvicted(health, 4000), false)
})

test('healthy → evicted: by failures in a row, the last one counted', () => {
  const rule = { ...plain, consecutiveFailures: 3 }
  assert.equal(isEvicted(fail(2, rule), 1000), false)
  assert.equal(isEvicted(fail(3, rule), 1000), true)
  const interrupted = fail(2, rule, afterHealthy(fail(2, rule), 1000, rule))
  assert.equal(isEvicted(interrupted, 1000), false)
})

test('healthy → evicted: by a score below the threshold after the failure is recorded', () => {
  // 10000 → 7000 → 4900: exactly the threshold is not below it.
  for (const [healthThreshold, failures] of [
    [71, 1],
    [70, 2],
    [50, 2],
    [49, 3],
    [1, 13],
  ] as const) {
    const rule = { ...plain, healthThreshold }
    assert.equal(isEvicted(fail(failures - 1, rule), 1000), false, `${healthThreshold}`)
    assert.equal(isEvicted(fail(failures, rule), 1000), true, `${healthThreshold}`)
  }
  assert.equal(isEvicted(fail(200, { ...plain, healthThreshold: 0 }), 1000), false)
})

test('healthy → evicted: by either condition when both are set', () => {
  assert.equal(isEvicted(fail(2, { ...plain, consecutiveFailures: 2, healthThreshold: 1 }), 1000), true)
  assert.equal(isEvicted(fail(1, { ...plain, consecutiveFailures: 9, healthThreshold: 80 }), 1000), true)
  assert.equal(isEvicted(fail(1, { ...plain, consecutiveFailures: 2, healthThreshold: 50 }), 1000), false)
})

test('a count of 0 is no condition', () => {
  assert.equal(isEvicted(fail(1, { ...plain, consecutiveFailures: 0, healthThreshold: 50 }), 1000), false)
})

test('evicted → healthy: when the time is over, with `restoreHealth` or the score it had', () => {
  const health = fail(1, plain)
  assert.equal(atTime(health, 3999, plain).score, 7000)
  assert.deepEqual(atTime(health, 4000, plain), { ...health, evictedUntil: 0 })
  assert.equal(atTime(health, 4000, { ...plain, restoreHealth: 100 }).score, FULL_SCORE)
  assert.equal(atTime(health, 4000, { ...plain, restoreHealth: 0 }).score, 0)
  assert.equal(atTime(health, 3999, { ...plain, restoreHealth: 100 }).score, 7000)
})

test('each eviction in a row is longer by the duration; a healthy answer starts anew', () => {
  let health = fail(1, plain, HEALTHY, 0)
  assert.equal(health.evictedUntil, 3000)
  health = fail(1, plain, health, 3000)
  assert.equal(health.evictedUntil, 3000 + 6000)
  health = fail(1, plain, health, 9000)
  assert.equal(health.evictedUntil, 9000 + 9000)
  health = fail(1, plain, afterHealthy(health, 18_000, plain), 18_000)
  assert.equal(health.evictedUntil, 18_000 + 3000)
})

test('answers of calls that were under way neither lengthen an eviction nor end it', () => {
  const evicted = fail(1, plain)
  assert.deepEqual(fail(5, plain, evicted, 2000), evicted)
  const answered = afterHealthy(evicted, 2000, plain)
  assert.equal(answered.evictedUntil, evicted.evictedUntil)
  assert.equal(answered.score, evicted.score)
})

const rules = fc.record({
  durationMs: fc.integer({ min: 100, max: 60_000 }),
  restoreHealth: fc.option(fc.integer({ min: 0, max: 100 })),
  consecutiveFailures: fc.integer({ min: 0, max: 255 }),
  healthThreshold: fc.option(fc.integer({ min: 0, max: 100 })),
})
const steps = fc.array(fc.record({ healthy: fc.boolean(), after: fc.integer({ min: 0, max: 20_000 }) }), {
  maxLength: 200,
})

test('the word of a state is the state, and the state of no word is healthy', () => {
  assert.deepEqual(fromWord(0n), HEALTHY)
  const states = fc.record(
    {
      score: fc.integer({ min: 0, max: FULL_SCORE }),
      failures: fc.integer({ min: 0, max: 255 }),
      evictions: fc.integer({ min: 0, max: 255 }),
      evictedUntil: fc.integer({ min: 0, max: 2 ** 34 - 1 }).map((ticks) => ticks * 16),
    },
    { noNullPrototype: true },
  )
  fc.assert(fc.property(states, (state) => assert.deepEqual(fromWord(toWord(state)), state)))
})

test('whatever happens, the states keep to the rules', () => {
  fc.assert(
    fc.property(rules, steps, (rule, events) => {
      let now = 1000
      let health: Health = HEALTHY
      let row = 0
      for (const { healthy, after } of events) {
        now += after
        const before = atTime(health, now, rule)
        const wasEvicted = isEvicted(before, now)
        health = fromWord(toWord((healthy ? afterHealthy : afterUnhealthy)(health, now, rule)))
        row = healthy ? 0 : wasEvicted ? row : row + 1
        assert.ok(health.score >= 0 && health.score <= FULL_SCORE)
        assert.equal(health.failures, Math.min(row, 255))
        if (wasEvicted) {
          assert.equal(health.evictedUntil, before.evictedUntil)
          assert.equal(health.score, before.score)
        } else if (healthy) {
          assert.ok(health.score >= before.score)
          assert.deepEqual([health.evictions, health.evictedUntil], [0, 0])
        } else {
          assert.equal(health.score, Math.floor(before.score * 0.7 + 1e-9))
          const none = rule.consecutiveFailures === 0 && rule.healthThreshold === null
          const byCount = rule.consecutiveFailures > 0 && row >= rule.consecutiveFailures
          const byScore = rule.healthThreshold !== null && health.score < rule.healthThreshold * 100
          assert.equal(isEvicted(health, now), none || byCount || byScore)
          if (isEvicted(health, now)) {
            assert.equal(health.evictions, Math.min(before.evictions + 1, 255))
            const length = health.evictedUntil - now - rule.durationMs * health.evictions
            assert.ok(length >= 0 && length < 16)
          }
        }
      }
    }),
  )
})
