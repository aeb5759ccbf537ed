/** The header in which gateways record that a request passed them. It is hop-by-hop, and policies never see it. */
export const HOPS_HEADER = 'x-portico-hops'

/** The hops of one outgoing request, in the two formats that connections write. */
export interface HopTrail {
  /** The hops before this gateway; empty for most requests. */
  readonly before: string
  readonly value: string
  /** The value as a line of an HTTP/1 head. */
  readonly line: string
}

/** Adds this gateway to the hops of outgoing requests, and detects requests that came back too often. */
export class Hops {
  readonly #instance: string
  readonly #first: HopTrail

  /** `instance` identifies the process: it is the same for all workers, and different for every other gateway. */
  constructor(instance: string) {
    this.#instance = instance
    this.#first = trail('', instance)
  }

  /** Returns the hops of an outgoing request; `before` is the header of the incoming request, usually empty. */
  leaving(before: string): HopTrail {
    return before === '' ? this.#first : trail(before, `${before}, ${this.#instance}`)
  }

  /** Returns the loop that a request with these hops is in; null when it is in none. */
  loopIn(hops: string): LoopFinding | null {
    if (hops.length > MAX_LENGTH) return { passes: 0, hops: MAX_HOPS + 1 }
    const entries = hops.split(',')
    let passes = 0
    for (const entry of entries) if (entry.trim() === this.#instance) passes++
    return passes > MAX_PASSES || entries.length > MAX_HOPS ? { passes, hops: entries.length } : null
  }
}

interface LoopFinding {
  /** How often the request had left this gateway before. */
  readonly passes: number
  /** How often the request had left any gateway. */
  readonly hops: number
}

function trail(before: string, value: string): HopTrail {
  return { before, value, line: `${HOPS_HEADER}: ${value}\r\n` }
}

/** A gateway may be its own backend on purpose, as when one listener is in front of another. */
export const MAX_PASSES = 4
/** Replicas behind one address have different names, so the total number of hops is limited too. */
export const MAX_HOPS = 32
/** Characters; the length of `MAX_HOPS` entries is below it. */
const MAX_LENGTH = 1024
