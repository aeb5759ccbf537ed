import type { RawConnection, RawStream } from '../exchange/exchange.ts'
import type { Sink } from '../body/body.ts'
import { HeaderBlock } from '../fields/header-block.ts'
import type { Deadlines } from '../runtime/deadlines.ts'
import { Http1Connection } from '../client/http1/http1-connection.ts'
import { connectHttp2, loadHttp2 } from '../client/pool/load-http2.ts'
import {
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
  type UpstreamResponse,
} from '../client/upstream-types.ts'

/** A whole response, as a client received it. */
export interface ReceivedResponse {
  /** Interim responses (1xx), in order. */
  readonly interims: readonly { status: number; headers: HeaderBlock }[]
  readonly status: number
  readonly headers: HeaderBlock
  readonly body: Buffer
  readonly trailers: HeaderBlock | null
  /** Why the response is incomplete; null when it is complete. */
  readonly brokenBy: Error | null
  /** Whether the connection changed its protocol, so that it has no body. */
  readonly isUpgraded: boolean
}

/**
 * Sends one request over a connection and closes the connection after the response. The result is an error when there
 * was no response.
 */
export async function sendOver(
  socket: RawStream,
  version: 'HTTP/1.1' | 'HTTP/2',
  request: UpstreamRequest,
  deadlines: Deadlines,
): Promise<ReceivedResponse | UpstreamError> {
  if (version === 'HTTP/2') await loadHttp2()
  return new Promise((resolve) => {
    const receiver = new ResponseReceiver(socket, resolve)
    const owner = { idle() {}, fellSilent() {}, closed() {} }
    const connection =
      version === 'HTTP/2' ? connectHttp2(socket, owner, deadlines) : new Http1Connection(socket, owner)
    connection.send(request, receiver)
  })
}

class ResponseReceiver implements UpstreamHandler, Sink {
  source: Sink['source'] = null
  readonly #socket: RawStream
  readonly #done: (outcome: ReceivedResponse | UpstreamError) => void
  readonly #interims: { status: number; headers: HeaderBlock }[] = []
  readonly #chunks: Buffer[] = []
  #status = 0
  #headers = new HeaderBlock()

  constructor(socket: RawStream, done: (outcome: ReceivedResponse | UpstreamError) => void) {
    this.#socket = socket
    this.#done = done
  }

  informed(status: number, headers: HeaderBlock): void {
    this.#interims.push({ status, headers })
  }

  responded({ status, headers, body }: UpstreamResponse): void {
    this.#status = status
    this.#headers = headers
    body.pipe(this)
  }

  upgraded(status: number, headers: HeaderBlock, { socket }: RawConnection): void {
    this.#status = status
    this.#headers = headers
    this.#finish(null, null, true)
    socket.destroy()
  }

  failed(error: UpstreamError): void {
    this.#socket.destroy()
    this.#done(error)
  }

  write(chunk: Buffer): void {
    this.#chunks.push(chunk)
  }

  flush(): boolean {
    return true
  }

  end(trailers: HeaderBlock | null): void {
    this.#finish(trailers, null, false)
  }

  abort(cause: Error): void {
    this.#finish(null, cause, false)
  }

  #finish(trailers: HeaderBlock | null, brokenBy: Error | null, isUpgraded: boolean): void {
    const [only] = this.#chunks
    const body = this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks)
    const { status, headers, interims } = { status: this.#status, headers: this.#headers, interims: this.#interims }
    this.#done({ interims, status, headers, body, trailers, brokenBy, isUpgraded })
    this.#socket.destroy()
  }
}
