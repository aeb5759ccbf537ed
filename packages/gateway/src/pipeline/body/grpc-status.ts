import { HeaderBlock, type Sink, type Source } from '@portico/http'
import { DEADLINE_EXCEEDED, grpcStatusOfReset, isGrpcContentType } from '@portico/http/grpc'
import { UpstreamError } from '@portico/http/client'
import { isDeadline } from '../context/failure.ts'
import type { RequestContext } from '../context/request-context.ts'

/** Reads the status of a gRPC call from headers; a call that ends without a message has its status in the response head. */
export function readGrpcStatus(rx: RequestContext, fields: HeaderBlock | null): void {
  const text = fields === null ? null : fields.get('grpc-status')
  if (text !== null && /^[0-9]{1,9}$/.test(text)) rx.grpcStatus = Number(text)
}

/** Passes a body on and reads the status of a gRPC call from its trailers. */
export class GrpcStatusSink implements Sink {
  readonly #sink: Sink
  readonly #rx: RequestContext

  constructor(sink: Sink, rx: RequestContext) {
    this.#sink = sink
    this.#rx = rx
  }

  get source(): Source | null {
    return this.#sink.source
  }

  set source(source: Source | null) {
    this.#sink.source = source
  }

  write(chunk: Buffer): void {
    this.#sink.write(chunk)
  }

  flush(): boolean {
    return this.#sink.flush()
  }

  end(trailers: HeaderBlock | null): void {
    readGrpcStatus(this.#rx, trailers)
    this.#sink.end(trailers)
  }

  /**
   * A gRPC client reads a reset of its stream as INTERNAL. Trailers give it the status that it would have had from the backend
   * itself: UNAVAILABLE for a lost connection, which clients may retry.
   */
  abort(cause: Error): void {
    const rx = this.#rx
    if (!(cause instanceof UpstreamError) || !isGrpcOverHttp2(rx)) return this.#sink.abort(cause)
    rx.responseBroken(cause)
    this.#endWith(statusOf(cause), `upstream call failed: ${cause.message}`)
  }

  /**
   * Ends a gRPC response with DEADLINE_EXCEEDED. False when the response is not gRPC over HTTP/2, or when the client does not
   * read what it has already been sent: trailers would wait behind it.
   */
  expire(message: string): boolean {
    if (!isGrpcOverHttp2(this.#rx) || !this.#sink.flush()) return false
    this.#endWith(DEADLINE_EXCEEDED, message)
    return true
  }

  #endWith(status: number, message: string): void {
    this.#rx.grpcStatus = status
    const trailers = new HeaderBlock()
    trailers.add('grpc-status', String(status))
    trailers.add('grpc-message', encodeURIComponent(message))
    this.#sink.end(trailers)
  }
}

function statusOf({ code, resetCode }: UpstreamError): number {
  if (isDeadline(code)) return DEADLINE_EXCEEDED
  return code === 'bad_response' ? INTERNAL : grpcStatusOfReset(resetCode)
}

function isGrpcOverHttp2({ exchange, responseHeaders }: RequestContext): boolean {
  const type = exchange.version === 'HTTP/2' && responseHeaders !== null ? responseHeaders.get('content-type') : null
  return type !== null && isGrpcContentType(type)
}

const INTERNAL = 13
