/** When an endpoint is left out for a while. */
export interface EvictionRule {
  durationMs: number
  /** Percent; null returns it with the score it had. */
  restoreHealth: number | null
  /** Unhealthy answers in a row; 0 is no condition. */
  consecutiveFailures: number
  /** Percent that the score must fall below; null is no condition. */
  healthThreshold: number | null
}

/** How well an endpoint answers. */
export interface Health {
  /** Moving average: `FULL_SCORE` when every answer was healthy. */
  score: number
  /** Unhealthy answers since the last healthy one. */
  failures: number
  /** Evictions since the last healthy answer. */
  evictions: number
  /** Milliseconds of the clock that all workers share; 0 when it was never evicted or has returned. */
  evictedUntil: number
}

/** Whole numbers, so that a score of exactly the threshold is not below it. */
export const FULL_SCORE = 10_000

export const HEALTHY: Health = { score: FULL_SCORE, failures: 0, evictions: 0, evictedUntil: 0 }

export function isEvicted(health: Health, now: number): boolean {
  return health.evictedUntil > now
}

/** The same endpoint at that time: an eviction that is over gives it the score it returns with. */
export function atTime(health: Health, now: number, rule: EvictionRule | null): Health {
  if (health.evictedUntil === 0 || isEvicted(health, now)) return health
  const restored = rule?.restoreHealth ?? null
  const score = restored === null ? health.score : (restored * FULL_SCORE) / 100
  return { ...health, score, evictedUntil: 0 }
}

export function afterHealthy(before: Health, now: number, rule: EvictionRule | null): Health {
  const health = atTime(before, now, rule)
  // It returns with the score that it was evicted with, so that must not move.
  const score = isEvicted(health, now) ? health.score : Math.ceil((3 * FULL_SCORE + 7 * health.score) / 10)
  return { score, failures: 0, evictions: 0, evictedUntil: health.evictedUntil }
}

/** Calls that were under way when the endpoint was evicted say nothing new: they do not lengthen the eviction. */
export function afterUnhealthy(before: Health, now: number, rule: EvictionRule | null): Health {
  const health = atTime(before, now, rule)
  if (isEvicted(health, now)) return health
  const score = Math.floor((7 * health.score) / 10)
  const failures = Math.min(health.failures + 1, MAX_COUNT)
  if (rule === null || !mustEvict(score, failures, rule)) return { ...health, score, failures }
  const evictions = Math.min(health.evictions + 1, MAX_COUNT)
  return { score, failures, evictions, evictedUntil: now + rule.durationMs * evictions }
}

function mustEvict(score: number, failures: number, rule: EvictionRule): boolean {
  const { consecutiveFailures, healthThreshold } = rule
  if (consecutiveFailures === 0 && healthThreshold === null) return true
  if (consecutiveFailures > 0 && failures >= consecutiveFailures) return true
  return healthThreshold !== null && score < (healthThreshold * FULL_SCORE) / 100
}

/** The state as one word that can be exchanged at once; 0 is `HEALTHY`. Times are rounded up to the tick. */
export function toWord({ score, failures, evictions, evictedUntil }: Health): bigint {
  const low = (FULL_SCORE - score) | (failures << 14) | (evictions << 22)
  if (evictedUntil === 0) return BigInt(low)
  return BigInt.asIntN(64, (BigInt(Math.ceil(evictedUntil / TICK)) << LOW_BITS) | BigInt(low))
}

export function fromWord(word: bigint): Health {
  if (word === 0n) return HEALTHY
  const low = Number(BigInt.asUintN(30, word))
  return {
    score: FULL_SCORE - (low & 0x3fff),
    failures: (low >> 14) & MAX_COUNT,
    evictions: (low >> 22) & MAX_COUNT,
    evictedUntil: Number(BigInt.asUintN(64, word) >> LOW_BITS) * TICK,
  }
}

/** 14 bits of lost score and twice 8 bits of counts; the time has the 34 bits above them: eight years of ticks. */
const LOW_BITS = 30n
const MAX_COUNT = 255
const TICK = 16
