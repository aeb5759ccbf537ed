import type { Sink, Source } from '../../net/body.ts'
import type { RawConnection } from '../../net/exchange.ts'
import { isGrpcContentType } from '../../net/grpc.ts'
import type { HeaderBlock } from '../../net/header-block.ts'
import { CANCELLED, GrpcError, UNKNOWN } from '../../upstream/grpc/status.ts'
import {
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
  type UpstreamResponse,
} from '../../upstream/upstream-types.ts'
import { Unusable } from '../fetch-text.ts'
import type { BackendClient, CallContext } from '../step.ts'
import type { CallSpan } from './call-span.ts'
import type { RequestSpans, SpanPlace } from './request-spans.ts'
import { writeTrace } from './trace-headers.ts'
import { TracedContext } from './traced-context.ts'

type Send = BackendClient['send']

/** What sends requests to a backend, with a span for each where the request is sampled. */
export function tracedSend(backend: { readonly name: string; readonly kind: string }, send: Send): Send {
  return (request, context, handler) => {
    const place = context.span ?? null
    if (place === null) return send(request, context, handler)
    const { method, authority, target } = request
    const { spans, parentId, purpose } = place
    const span = spans.begin({ parentId, purpose, backend, method, authority, target })
    return new TracedCall(span, spans, context, handler).start(send, withTrace(request, place, span))
  }
}

function withTrace(request: UpstreamRequest, { spans }: SpanPlace, span: CallSpan): UpstreamRequest {
  const headers = request.headers.clone()
  const { traceId, tracestate, incoming } = spans
  const trace = { traceId: traceId.hex, tracestate, b3: incoming?.b3 ?? null }
  writeTrace(headers, trace, span)
  return { ...request, headers }
}

/** Stands between a call and who made it, and tells the span what becomes of it. */
class TracedCall extends TracedContext implements UpstreamCall, UpstreamHandler {
  readonly #handler: UpstreamHandler
  #call: UpstreamCall | null = null

  constructor(span: CallSpan, spans: RequestSpans, context: CallContext, handler: UpstreamHandler) {
    super(span, spans, context)
    this.#handler = handler
  }

  start(send: Send, request: UpstreamRequest): this {
    this.#call = send(request, this, this)
    return this
  }

  cancel(cause: Error): void {
    cut(this.callSpan, cause)
    this.#call?.cancel(cause)
  }

  informed(status: number, headers: HeaderBlock): void {
    this.#handler.informed(status, headers)
  }

  responded({ status, headers, body }: UpstreamResponse): void {
    const grpcStatus = headers.get('grpc-status')
    this.callSpan.answered(status, grpcStatus)
    const owesStatus = grpcStatus === null && isGrpcContentType(headers.get('content-type') ?? '')
    this.#handler.responded({ status, headers, body: new TracedBody(body, this.callSpan, owesStatus) })
  }

  upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    this.callSpan.answered(status, null)
    raw.socket.once('close', () => this.callSpan.ended())
    this.#handler.upgraded(status, headers, raw, protocol)
  }

  failed(error: UpstreamError): void {
    this.callSpan.failed(error.code, error.message)
    this.#handler.failed(error)
  }
}

/** The body of an answer, passed on as it comes; its end is the end of the call. */
class TracedBody implements Source, Sink {
  source: Source | null = null
  readonly #body: Source
  readonly #span: CallSpan
  /** Trailers have to say how a call of gRPC ended. */
  readonly #owesStatus: boolean
  #sink: Sink | null = null

  constructor(body: Source, span: CallSpan, owesStatus: boolean) {
    this.#body = body
    this.#span = span
    this.#owesStatus = owesStatus
  }

  get length(): number {
    return this.#body.length
  }

  pipe(sink: Sink): void {
    sink.source = this
    this.#sink = sink
    this.#body.pipe(this)
  }

  resume(): void {
    this.#body.resume()
  }

  cancel(cause: Error): void {
    cut(this.#span, cause)
    this.#body.cancel(cause)
  }

  write(chunk: Buffer): void {
    this.#sink?.write(chunk)
  }

  flush(): boolean {
    return this.#sink?.flush() ?? true
  }

  end(trailers: HeaderBlock | null): void {
    const grpcStatus = trailers?.get('grpc-status') ?? null
    this.#span.trailed(grpcStatus)
    if (grpcStatus === null && this.#owesStatus) this.#span.failed(String(UNKNOWN), 'the call ended without a status')
    else this.#span.ended()
    this.#sink?.end(trailers)
  }

  abort(cause: Error): void {
    this.#span.failed(cause instanceof UpstreamError ? cause.code : 'connection_lost', cause.message)
    this.#sink?.abort(cause)
  }
}

/** Whoever made the call does not want the rest: because the answer is no good, or for reasons of its own. */
function cut(span: CallSpan, cause: Error): void {
  if (cause instanceof UpstreamError || cause instanceof Unusable) span.failed(cause.code, cause.message)
  else if (cause instanceof GrpcError && cause.code !== CANCELLED) span.failed(String(cause.code), cause.message)
  else span.cut(cause.message)
}
