import type { Endpoint } from './endpoint.ts'
import { NoTunnels } from '../no-tunnels.ts'
import type { UpstreamError } from '../upstream-types.ts'

/**
 * The state of the only address of a backend without a `health` policy. Calls to it have no score. Failures, and the
 * first response after them, are recorded for the admin API.
 */
export class PlainEndpoint {
  readonly #endpoint: Endpoint
  readonly #monotonic: () => number
  #isFailing = false

  constructor(endpoint: Endpoint, monotonic: () => number) {
    this.#endpoint = endpoint
    this.#monotonic = monotonic
  }

  answered(status: number): void {
    if (status >= 500) this.#fail(`status ${status}`)
    else if (this.#isFailing) {
      this.#isFailing = false
      this.#endpoint.hasRecovered(this.#monotonic())
    }
  }

  failed(error: UpstreamError): void {
    // A reused connection that the backend had closed says nothing about the address's health.
    if (!error.stale && error.code !== 'internal' && !(error instanceof NoTunnels)) this.#fail(error.code)
  }

  #fail(cause: string): void {
    const now = this.#monotonic()
    this.#isFailing = true
    this.#endpoint.wasUnhealthy(now, null)
    this.#endpoint.lastFailure = { cause, at: now }
  }
}
