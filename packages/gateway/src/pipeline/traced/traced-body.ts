import { type HeaderBlock, type Source, ThroughBody } from '@portico/http'
import { CANCELLED, GrpcError, UNKNOWN } from '@portico/http/grpc'
import { UpstreamError } from '@portico/http/client'
import { Unusable } from '../callouts/fetch-text.ts'
import type { CallSpan } from '../spans/call-span.ts'

/** A response body that ends the span of its call when it ends. */
export class TracedBody extends ThroughBody {
  readonly #span: CallSpan
  /** Whether the trailers must have the gRPC status. */
  readonly #owesStatus: boolean

  constructor(body: Source, span: CallSpan, owesStatus: boolean) {
    super(body)
    this.#span = span
    this.#owesStatus = owesStatus
  }

  override cancel(cause: Error): void {
    tellCut(this.#span, cause)
    super.cancel(cause)
  }

  override end(trailers: HeaderBlock | null): void {
    const span = this.#span
    const hasStatus = span.trailed(trailers?.get('grpc-status') ?? null)
    if (!hasStatus && this.#owesStatus) span.failed(String(UNKNOWN), 'the call ended without a status')
    if (span.isAttempt) span.ended()
    super.end(trailers)
    // `super.end` may already have reported a failure to the span.
    span.ended()
  }

  override abort(cause: Error): void {
    this.#span.failed(cause instanceof UpstreamError ? cause.code : 'connection_lost', cause.message)
    super.abort(cause)
  }
}

/** Reports to the span that the caller canceled the call, because of an unusable response or for its own reasons. */
export function tellCut(span: CallSpan, cause: Error): void {
  if (cause instanceof UpstreamError || cause instanceof Unusable) span.failed(cause.code, cause.message)
  else if (cause instanceof GrpcError && cause.code !== CANCELLED) span.failed(String(cause.code), cause.message)
  else span.cut(cause.message)
}
