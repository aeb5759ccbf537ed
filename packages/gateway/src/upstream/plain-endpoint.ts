import type { Endpoint } from './endpoint.ts'
import { NoTunnels } from './no-tunnels.ts'
import type { UpstreamError } from './upstream-types.ts'

/**
 * The state of an address that nothing chooses between: without a `health` policy, and the only one of its backend. Calls
 * have no score there. Failures are kept, and the first answer after them, so that people see how the address does.
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
    // That a used connection was closed says nothing about how the address answers.
    if (!error.stale && error.code !== 'internal' && !(error instanceof NoTunnels)) this.#fail(error.code)
  }

  #fail(cause: string): void {
    const now = this.#monotonic()
    this.#isFailing = true
    this.#endpoint.wasUnhealthy(now, null)
    this.#endpoint.lastFailure = { cause, at: now }
  }
}
