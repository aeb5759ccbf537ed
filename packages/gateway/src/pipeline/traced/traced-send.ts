import type { HeaderBlock, RawConnection } from '@portico/http'
import { isGrpcContentType } from '@portico/http/grpc'
import type {
  UpstreamCall,
  UpstreamError,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamResponse,
} from '@portico/http/client'
import type { BackendClient, CallContext } from '../context/step.ts'
import type { CallSpan } from '../spans/call-span.ts'
import type { RequestSpans, SpanParent } from '../spans/request-spans.ts'
import { writeTrace } from '../spans/trace-headers.ts'
import { TracedBody, tellCut } from './traced-body.ts'
import { TracedContext } from './traced-context.ts'

type Send = BackendClient['send']

/** Returns `send` with a span for each call of a sampled request. */
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

function withTrace(request: UpstreamRequest, { spans }: SpanParent, span: CallSpan): UpstreamRequest {
  const headers = request.headers.clone()
  const { traceId, tracestate, incoming } = spans
  const trace = { traceId: traceId.hex, tracestate, b3: incoming?.b3 ?? null }
  writeTrace(headers, trace, span)
  return { ...request, headers }
}

/** Forwards between a call and its handler, and reports the result to the span. */
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
    tellCut(this.callSpan, cause)
    this.#call?.cancel(cause)
  }

  informed(status: number, headers: HeaderBlock): void {
    this.#handler.informed(status, headers)
  }

  responded({ status, headers, body }: UpstreamResponse): void {
    const hasStatus = this.callSpan.answered(status, headers.get('grpc-status'))
    const owesStatus = !hasStatus && isGrpcContentType(headers.get('content-type') ?? '')
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
