import type { RawConnection } from '../../exchange/exchange.ts'
import type { HeaderBlock } from '../../fields/header-block.ts'
import {
  type ConnectDone,
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamResponse,
} from '../upstream-types.ts'

/** One CONNECT to a workload, until its stream is open or refused. */
export class HboneOpening implements UpstreamHandler {
  /** `host:port` of the workload's HBONE listener. */
  readonly #peer: string
  readonly #done: ConnectDone
  #call: UpstreamCall | null = null
  #isCanceled = false

  constructor(peer: string, done: ConnectDone) {
    this.#peer = peer
    this.#done = done
  }

  /** Returns a function that cancels. */
  start(send: (handler: UpstreamHandler) => UpstreamCall): () => void {
    this.#call = send(this)
    return () => this.#cancel()
  }

  #cancel(): void {
    this.#isCanceled = true
    this.#call?.cancel(GIVEN_UP)
  }

  informed(): void {}

  responded({ status, body }: UpstreamResponse): void {
    body.cancel(GIVEN_UP)
    const reason = status < 300 ? `the peer answered ${status} and ended the stream` : `the peer answered ${status}`
    this.#fail(new UpstreamError('connect_failed', reason, true))
  }

  upgraded(_status: number, _headers: HeaderBlock, { socket }: RawConnection): void {
    if (this.#isCanceled) socket.destroy()
    else this.#done(socket)
  }

  failed(error: UpstreamError): void {
    this.#fail(error)
  }

  /** Whatever the error was, the tunnel was not open, so the workload has seen nothing of the request. */
  #fail({ code, message }: UpstreamError): void {
    if (this.#isCanceled) return
    const isKnown = code === 'connect_timeout' || code === 'tls_failed' || code === 'internal'
    const reason = `tunnel through HBONE: ${this.#peer}: ${message}`
    this.#done(new UpstreamError(isKnown ? code : 'connect_failed', reason, true))
  }
}

const GIVEN_UP = new Error('the tunnel is not needed')
