/**
 * The endpoints that lately refused a datagram: a lost datagram is not reported to its client, so new sessions avoid
 * these endpoints for a while, if there are others.
 */
export class FailedEndpoints {
  readonly #untilByName = new Map<string, number>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  has(endpoint: string): boolean {
    const until = this.#untilByName.get(endpoint)
    if (until === undefined) return false
    if (until > this.#now()) return true
    this.#untilByName.delete(endpoint)
    return false
  }

  add(endpoint: string): void {
    // Endpoints come and go, so endpoints that are no longer called must be removed.
    if (this.#untilByName.size >= MOST_ENDPOINTS) this.#untilByName.clear()
    this.#untilByName.set(endpoint, this.#now() + AVOIDED_MS)
  }

  delete(endpoint: string): void {
    this.#untilByName.delete(endpoint)
  }
}

/** After this time an endpoint is tried again. */
const AVOIDED_MS = 10_000
const MOST_ENDPOINTS = 1024
