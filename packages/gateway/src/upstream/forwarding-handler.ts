import type { RawConnection } from '../net/exchange.ts'
import type { HeaderBlock } from '../net/header-block.ts'
import type { UpstreamError, UpstreamHandler, UpstreamResponse } from './upstream-types.ts'

/** Hands every answer on; a subclass decides what becomes of a failure. */
export abstract class ForwardingHandler implements UpstreamHandler {
  protected readonly handler: UpstreamHandler

  constructor(handler: UpstreamHandler) {
    this.handler = handler
  }

  informed(status: number, headers: HeaderBlock): void {
    this.handler.informed(status, headers)
  }

  responded(response: UpstreamResponse): void {
    this.handler.responded(response)
  }

  upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    this.handler.upgraded(status, headers, raw, protocol)
  }

  abstract failed(error: UpstreamError): void
}
