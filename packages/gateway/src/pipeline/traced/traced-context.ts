import type { UpstreamError, UpstreamResponse } from '@portico/http/client'
import type { CallContext } from '../context/step.ts'
import type { CallSpan } from '../spans/call-span.ts'
import type { RequestSpans } from '../spans/request-spans.ts'

/** The context of a call that also reports endpoint and retries to the span of the call. */
export class TracedContext implements CallContext {
  protected readonly callSpan: CallSpan
  readonly #spans: RequestSpans
  readonly #context: CallContext

  constructor(span: CallSpan, spans: RequestSpans, context: CallContext) {
    this.callSpan = span
    this.#spans = spans
    this.#context = context
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

  get belongsTo(): CallContext['belongsTo'] {
    return this.#context.belongsTo
  }

  get order(): CallContext['order'] {
    return this.#context.order
  }

  connectingTo(endpoint: string, scheme: 'http' | 'https'): void {
    this.callSpan.endpoint = endpoint
    this.callSpan.scheme = scheme
    this.#context.connectingTo(endpoint, scheme)
  }

  /** Begins a child span for the CONNECT request to a proxy. */
  tunnelling(target: string, proxy: string): (error: UpstreamError | null) => void {
    const backend = { name: proxy, kind: 'tunnel' }
    const { id: parentId } = this.callSpan
    const start = { parentId, purpose: 'tunnel', backend, method: 'CONNECT', authority: target, target: '' } as const
    const span = this.#spans.begin(start)
    return (error) => {
      if (error !== null) return span.failed(error.code, error.message)
      span.answered(200, null)
      span.ended()
    }
  }

  hasTried(endpoint: string): boolean {
    return this.#context.hasTried?.(endpoint) ?? false
  }

  movedOn(error: UpstreamError): void {
    this.#context.movedOn?.(error)
  }

  sentAgain(error: UpstreamError): void {
    this.#context.sentAgain?.(error)
  }

  isUnhealthy(response: UpstreamResponse): boolean {
    return this.#context.isUnhealthy?.(response) ?? response.status >= 500
  }
}
