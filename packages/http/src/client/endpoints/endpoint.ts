import type { SharedCells } from './shared-counters.ts'
import type { Standing } from './balance.ts'

/** A snapshot of an endpoint's state. */
export interface EndpointState {
  /** Whether all workers share the state, because a `health` policy applies. */
  readonly isShared: boolean
  /** From 0 to 1. */
  readonly health: number
  /** Unhealthy responses since the last healthy response. */
  readonly failures: number
  /** Evictions since the last healthy response. */
  readonly evictions: number
  /** Remaining milliseconds of the eviction; 0 while the endpoint is in use. */
  readonly evictedForMs: number
  /** 0 until the first response. */
  readonly latencyMs: number
  readonly pending: number
  readonly lastFailure: { readonly cause: string; readonly agoMs: number } | null
}

/** One address of a backend with its health, latency and calls in progress. */
export class Endpoint {
  /** `host:port` or `unix:/path`. */
  readonly name: string
  /** Calls in progress from this worker. Not shared, because the calls of a dead worker would be counted forever. */
  pending = 0
  /** The last failure that this worker saw; null before the first failure. */
  lastFailure: { cause: string; at: number } | null = null
  #cells: SharedCells | null
  #own: BigInt64Array | null = null

  /** `cells` is null when the score belongs to this worker alone. */
  constructor(name: string, cells: SharedCells | null) {
    this.name = name
    this.#cells = cells
  }

  standing(now: number, rule: EvictionRule | null, tried: boolean): Standing {
    const words = this.#words(now)
    const health = atTime(fromWord(Atomics.load(words, HEALTH)), now, rule)
    return {
      weight: 1,
      health: health.score / FULL_SCORE,
      latency: Number(Atomics.load(words, LATENCY)) / 1e6,
      pending: this.pending,
      evicted: isEvicted(health, now),
      tried,
    }
  }

  /** Returns a snapshot for the admin API; it changes nothing. */
  state(now: number): EndpointState {
    const words = this.#words(now)
    const health = atTime(fromWord(Atomics.load(words, HEALTH)), now, null)
    const { lastFailure: last } = this
    return {
      isShared: this.#cells !== null,
      health: health.score / FULL_SCORE,
      failures: health.failures,
      evictions: health.evictions,
      evictedForMs: Math.max(0, health.evictedUntil - now),
      latencyMs: Number(Atomics.load(words, LATENCY)) / 1000,
      pending: this.pending,
      lastFailure: last === null ? null : { cause: last.cause, agoMs: now - last.at },
    }
  }

  wasHealthy(now: number, rule: EvictionRule | null, latencyMs: number): void {
    const words = this.#words(now)
    exchange(words, LATENCY, (word) => averaged(word, latencyMs))
    exchange(words, HEALTH, (word) => toWord(afterHealthy(fromWord(word), now, rule)))
  }

  /** Counts a healthy response without its latency, which matters only for the choice between addresses. */
  hasRecovered(now: number): void {
    exchange(this.#words(now), HEALTH, (word) => toWord(afterHealthy(fromWord(word), now, null)))
  }

  /** Counts an unhealthy response; returns the new state when this response evicted the endpoint, otherwise null. */
  wasUnhealthy(now: number, rule: EvictionRule | null): Health | null {
    let evicted: Health | null = null
    exchange(this.#words(now), HEALTH, (word) => {
      const before = fromWord(word)
      const after = afterUnhealthy(before, now, rule)
      evicted = isEvicted(after, now) && !isEvicted(before, now) ? after : null
      return toWord(after)
    })
    return evicted
  }

  #words(now: number): BigInt64Array {
    if (this.#cells !== null) {
      try {
        return this.#cells.use(now)
      } catch {
        // After a day without use, the endpoint's slot went to another key, and no slot is free: a local score replaces
        // it.
        this.#cells = null
      }
    }
    return (this.#own ??= new BigInt64Array(2))
  }
}

const HEALTH = 0
/** Microseconds, as a moving average; 0 until the first response. */
const LATENCY = 1

function averaged(before: bigint, latencyMs: number): bigint {
  // 0 is reserved for "unknown".
  const sample = Math.max(1, Math.round(latencyMs * 1000))
  return BigInt(before === 0n ? sample : Math.round(0.3 * sample + 0.7 * Number(before)))
}

/** Calls `change` again whenever another thread has changed the word meanwhile. */
function exchange(words: BigInt64Array, at: number, change: (word: bigint) => bigint): void {
  for (let before = Atomics.load(words, at); ;) {
    const after = change(before)
    if (after === before) return
    const found = Atomics.compareExchange(words, at, before, after)
    if (found === before) return
    before = found
  }
}

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
