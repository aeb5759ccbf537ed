import type { RequestSummary } from '@portico/gateway/admin-api'

/** The requests whose clients saw the same status and outcome. */
export interface SeenResult {
  readonly status: number
  readonly outcome: string
  readonly requests: number
  /** The median and the longest duration of the requests, in milliseconds. */
  readonly medianMs: number
  readonly longestMs: number
}

/** Counts rehearsed requests by the status and outcome that clients saw. */
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

  /** The number of requests that the gateway's stream left out. */
  get omitted(): number {
    return this.#omitted
  }

  /** Returns the results, the most frequent first. */
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

/** The most durations that are kept for each result, which bounds the memory. */
const MOST_TIMES = 10_000
