import { isAtHand } from '../../body/body.ts'
import type { RawConnection } from '../../exchange/exchange.ts'
import type { HeaderBlock } from '../../fields/header-block.ts'
import { ReplayableBody } from '../../body/replayable-body.ts'
import type { UpstreamError, UpstreamHandler, UpstreamRequest, UpstreamResponse } from '../upstream-types.ts'

/** Forwards every response to a handler; a subclass decides how to handle a failure. */
export abstract class ForwardingHandler implements UpstreamHandler {
  readonly request: UpstreamRequest
  protected readonly handler: UpstreamHandler
  #keptBody: ReplayableBody | null = null

  constructor(request: UpstreamRequest, handler: UpstreamHandler) {
    this.request = request
    this.handler = handler
  }

  /** Keeps the body for a retry, unless the body is too large or is already kept. */
  protected keepBody(): void {
    const { request } = this
    if (isAtHand(request.body)) return
    this.#keptBody = ReplayableBody.wrap(request.body)
    if (this.#keptBody !== null) request.body = this.#keptBody
  }

  /** Releases the kept body: there will be no retry. */
  protected releaseBody(): void {
    this.#keptBody?.stopKeeping()
  }

  informed(status: number, headers: HeaderBlock): void {
    this.handler.informed(status, headers)
  }

  responded(response: UpstreamResponse): void {
    this.releaseBody()
    this.handler.responded(response)
  }

  upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    this.handler.upgraded(status, headers, raw, protocol)
  }

  abstract failed(error: UpstreamError): void
}
