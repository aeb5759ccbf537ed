import type { RequestSummary } from '@portico/gateway/admin-api'

/** Requests with the same result for their clients. */
export interface SeenResult {
  readonly status: number
  readonly outcome: string
  readonly requests: number
  /** The median and the longest duration, in milliseconds. */
  readonly medianMs: number
  readonly longestMs: number
}

/** Counts what clients saw of rehearsed requests. */
export class Tally {
  readonly #times = new Map<string, number[]>()
  #requests = 0
  #omitted = 0

  add(requests: readonly RequestSummary[], omitted: number): void {
    this.#omitted += omitted
    for (const { status, outcome, took } of requests) {
      this.#requests++
      const key = `${status} ${outcome}`
      const times = this.#times.get(key)
      if (times === undefined) this.#times.set(key, [took / 1000])
      else if (times.length < MOST_TIMES) times.push(took / 1000)
      else times[this.#requests % MOST_TIMES] = took / 1000
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    }
  }

  readonly #counts = new Map<string, number>()

  get requests(): number {
    return this.#requests
  }

  /** Requests that the stream of the gateway left out. */
  get omitted(): number {
    return this.#omitted
  }

  /** The most frequent result first. */
  results(): SeenResult[] {
    const results = [...this.#times].map(([key, times]): SeenResult => {
      const [status = '0', outcome = ''] = key.split(' ')
      const sorted = times.toSorted((one, other) => one - other)
      return {
        ...{ status: Number(status), outcome, requests: this.#counts.get(key) ?? 0 },
        medianMs: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
        longestMs: Math.round(sorted.at(-1) ?? 0),
      }
    })
    return results.toSorted((one, other) => other.requests - one.requests || one.status - other.status)
  }
}

/** Bounds the memory for each result. */
const MOST_TIMES = 10_000
