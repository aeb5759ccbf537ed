/** The header in which gateways note that a request passed them; hop-by-hop for policies, which never see it. */
export const HOPS_HEADER = 'x-portico-hops'

/** The hops of one outgoing request, in the two forms that connections write. */
export interface HopTrail {
  readonly value: string
  /** The same as a line of an HTTP/1 head. */
  readonly line: string
}

/** Notes this gateway on requests that leave, and finds requests that came back too often. */
export class Hops {
  readonly #instance: string
  readonly #first: HopTrail

  /** `instance` names the process: the same for all workers, different from every other gateway. */
  constructor(instance: string) {
    this.#instance = instance
    this.#first = trail(instance)
  }

  /** Returns the hops of an outgoing request; `before` is the header of the incoming one, mostly empty. */
  leaving(before: string): HopTrail {
    return before === '' ? this.#first : trail(`${before}, ${this.#instance}`)
  }

  /** Why a request that came with these hops is in a loop; null while it is not. */
  loopIn(hops: string): LoopFinding | null {
    if (hops.length > MAX_LENGTH) return { passes: 0, hops: MAX_HOPS + 1 }
    const entries = hops.split(',')
    let passes = 0
    for (const entry of entries) if (entry.trim() === this.#instance) passes++
    return passes > MAX_PASSES || entries.length > MAX_HOPS ? { passes, hops: entries.length } : null
  }
}

export interface LoopFinding {
  /** How often the request had left this gateway before. */
  readonly passes: number
  /** How often the request had left any gateway. */
  readonly hops: number
}

function trail(value: string): HopTrail {
  return { value, line: `${HOPS_HEADER}: ${value}\r\n` }
}

/** A gateway may be its own backend on purpose: a listener in front of another, a route that leads to a second one. */
export const MAX_PASSES = 4
/** Replicas behind one address have different names, so the total number of hops is limited too. */
export const MAX_HOPS = 32
/** Characters; `MAX_HOPS` entries are shorter. */
const MAX_LENGTH = 1024
