/** The conditions under which an endpoint is evicted. */
export interface EvictionRule {
  durationMs: number
  /** Health in percent after the eviction; null keeps the score from before the eviction. */
  restoreHealth: number | null
  /** Unhealthy responses in a row; 0 disables the condition. */
  consecutiveFailures: number
  /** The score in percent below which the endpoint is evicted; null disables the condition. */
  healthThreshold: number | null
}

/** The health of an endpoint. */
export interface Health {
  /** Moving average; `FULL_SCORE` when every response was healthy. */
  score: number
  /** Unhealthy responses since the last healthy response. */
  failures: number
  /** Evictions since the last healthy response. */
  evictions: number
  /** Milliseconds on the clock that all workers share; 0 when the endpoint was never evicted or has returned. */
  evictedUntil: number
}

/** Scores are integers, so that a score equal to the threshold is not below it. */
export const FULL_SCORE = 10_000

export const HEALTHY: Health = { score: FULL_SCORE, failures: 0, evictions: 0, evictedUntil: 0 }

export function isEvicted(health: Health, now: number): boolean {
  return health.evictedUntil > now
}

/** Returns the health at that time: when an eviction has ended, the endpoint has its restored score. */
export function atTime(health: Health, now: number, rule: EvictionRule | null): Health {
  if (health.evictedUntil === 0 || isEvicted(health, now)) return health
  const restored = rule?.restoreHealth ?? null
  const score = restored === null ? health.score : (restored * FULL_SCORE) / 100
  return { ...health, score, evictedUntil: 0 }
}

export function afterHealthy(before: Health, now: number, rule: EvictionRule | null): Health {
  const health = atTime(before, now, rule)
  // An evicted endpoint returns with the score from its eviction, so that score must not change.
  const score = isEvicted(health, now) ? health.score : Math.ceil((3 * FULL_SCORE + 7 * health.score) / 10)
  return { score, failures: 0, evictions: 0, evictedUntil: health.evictedUntil }
}

/** Calls that were in progress when the endpoint was evicted do not extend the eviction. */
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

/** Encodes the state as one word, for a compare-and-swap; 0 is `HEALTHY`. Times are rounded up to the tick. */
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

/** 14 bits of lost score and two counts of 8 bits; the time has the 34 bits above them: eight years of ticks. */
const LOW_BITS = 30n
const MAX_COUNT = 255
const TICK = 16
