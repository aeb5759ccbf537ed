import type { UpstreamError, UpstreamResponse } from '@portico/http/client'
import type { CallContext } from '../../pipeline/context/step.ts'

/** The owner of a call to a pool, which follows the endpoints that are tried. */
export interface PoolTries {
  tries(endpoint: string): void
  failedTry(error: UpstreamError): void
}

/** The context of a call to an endpoint of a pool: the context of the call to the pool, with the order of the picker. */
export class PoolContext implements CallContext {
  /** Undefined when the gateway balances. */
  readonly order: CallContext['order']
  readonly #context: CallContext
  readonly #owner: PoolTries

  constructor(context: CallContext, order: CallContext['order'], owner: PoolTries) {
    this.#context = context
    this.order = order
    this.#owner = owner
  }

  get rx(): CallContext['rx'] {
    return this.#context.rx
  }

  get hops(): string {
    return this.#context.hops
  }

  get clientVersion(): string {
    return this.#context.clientVersion
  }

  get clientScheme(): 'http' | 'https' {
    return this.#context.clientScheme
  }

  get clientAddress(): string {
    return this.#context.clientAddress ?? ''
  }

  get span(): CallContext['span'] {
    return this.#context.span
  }

  get belongsTo(): CallContext['belongsTo'] {
    return this.#context.belongsTo
  }

  connectingTo(endpoint: string, scheme: 'http' | 'https'): void {
    this.#owner.tries(endpoint)
    this.#context.connectingTo(endpoint, scheme)
  }

  hasTried(endpoint: string): boolean {
    return this.#context.hasTried?.(endpoint) ?? false
  }

  movedOn(error: UpstreamError): void {
    this.#owner.failedTry(error)
  }

  sentAgain(error: UpstreamError): void {
    this.#context.sentAgain?.(error)
  }

  hasEvicted(): void {
    this.#context.hasEvicted?.()
  }

  isUnhealthy(response: UpstreamResponse): boolean {
    return this.#context.isUnhealthy?.(response) ?? response.status >= 500
  }
}
