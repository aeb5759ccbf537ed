import { ForwardingHandler } from '../pool/forwarding-handler.ts'
import { NoTunnels } from '../no-tunnels.ts'
import type { UpstreamCall, UpstreamError, UpstreamHandler, UpstreamRequest } from '../upstream-types.ts'

/** Sends a request in one HTTP version. */
type SendAs = (version: 'HTTP1' | 'HTTP2', handler: UpstreamHandler) => UpstreamCall

/** An upgrade to an HTTP/2 backend: inside a stream when the backend supports that, otherwise over HTTP/1.1. */
export class UpgradeCall extends ForwardingHandler implements UpstreamCall {
  readonly #sendAs: SendAs
  #call: UpstreamCall | null = null
  #cancelled: Error | null = null

  constructor(request: UpstreamRequest, handler: UpstreamHandler, sendAs: SendAs) {
    super(request, handler)
    this.#sendAs = sendAs
  }

  start(): this {
    this.#call = this.#sendAs('HTTP2', this)
    return this
  }

  failed(error: UpstreamError): void {
    if (this.#cancelled !== null) return
    if (error instanceof NoTunnels) this.#call = this.#sendAs('HTTP1', this.handler)
    else this.handler.failed(error)
  }

  cancel(cause: Error): void {
    this.#cancelled = cause
    this.#call?.cancel(cause)
  }
}
