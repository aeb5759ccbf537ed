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

/** How an endpoint does at some moment. */
export interface EndpointState {
  /** With all workers, because a `health` policy speaks of it. */
  readonly isShared: boolean
  /** From 0 to 1. */
  readonly health: number
  /** Unhealthy answers since the last healthy one. */
  readonly failures: number
  /** Evictions since the last healthy answer. */
  readonly evictions: number
  /** 0 while it is in use. */
  readonly evictedForMs: number
  /** 0 until it has answered once. */
  readonly latencyMs: number
  readonly pending: number
  readonly lastFailure: { readonly cause: string; readonly agoMs: number } | null
}

/** One address of a backend: how it has answered, and what it is doing. */
export class Endpoint {
  /** `host:port` or `unix:/path`. */
  readonly name: string
  /** Calls under way from this worker. Not shared: what a worker that dies had under way would stay for ever. */
  pending = 0
  /** What this worker held against it last; null while there was nothing. */
  lastFailure: { cause: string; at: number } | null = null
  #cells: SharedCells | null
  #own: BigInt64Array | null = null

  /** `cells` is null where the score is this worker's own. */
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

  /** As somebody sees it who only looks. */
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

  /** It answers again; how fast is not measured where nobody chooses between addresses. */
  hasRecovered(now: number): void {
    exchange(this.#words(now), HEALTH, (word) => toWord(afterHealthy(fromWord(word), now, null)))
  }

  /** The state after it, when this answer was the one that evicted the endpoint. */
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
        // Unused for a day, it has lost its place to another key and found no other: a score of its own is good enough.
        this.#cells = null
      }
    }
    return (this.#own ??= new BigInt64Array(2))
  }
}

const HEALTH = 0
/** Microseconds, as a moving average; 0 until the first answer. */
const LATENCY = 1

function averaged(before: bigint, latencyMs: number): bigint {
  // 0 stays for `unknown`.
  const sample = Math.max(1, Math.round(latencyMs * 1000))
  return BigInt(before === 0n ? sample : Math.round(0.3 * sample + 0.7 * Number(before)))
}

/** `change` may be called several times, until no other thread came between. */
function exchange(words: BigInt64Array, at: number, change: (word: bigint) => bigint): void {
  for (let before = Atomics.load(words, at); ;) {
    const after = change(before)
    if (after === before) return
    const found = Atomics.compareExchange(words, at, before, after)
    if (found === before) return
    before = found
  }
}
