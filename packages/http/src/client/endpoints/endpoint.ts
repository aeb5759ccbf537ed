import type { SharedCells } from './shared-counters.ts'
import type { Standing } from './balance.ts'
import {
  afterHealthy,
  afterUnhealthy,
  atTime,
  type EvictionRule,
  fromWord,
  FULL_SCORE,
  type Health,
  isEvicted,
  toWord,
} from './health.ts'

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
