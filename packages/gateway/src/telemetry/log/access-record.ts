import type { LlmRecord } from '../../records/llm-record.ts'
import type { McpRecord } from '../../records/mcp-record.ts'
import type { RequestShadowRecord } from '../../records/shadow-outcome.ts'
import type { TraceContext } from '../traceparent.ts'

/** The logged fields of one HTTP request or TCP connection; the `RequestContext` of the pipeline has them. */
export interface AccessRecord {
  readonly listenerName: string | null
  readonly routeName: string | null
  /** `host:port` of the called endpoint. */
  readonly endpoint: string | null
  /** `ip:port` of the client. */
  readonly srcAddr: string | null
  /** The SPIFFE ID in the verified certificate of the client; null for clients without one. */
  readonly srcIdentity: string | null
  readonly method: string | null
  readonly host: string | null
  /** Path and query as received. */
  readonly target: string | null
  /** `HTTP/1.1`, `HTTP/2`. */
  readonly version: string | null
  /** 0 when there was no response. */
  readonly status: number
  readonly grpcStatus: number | null
  /** Logged when there is no HTTP host. */
  readonly sni: string | null
  /** The trace context: of the gateway's span, or of the client if the gateway has no span. */
  readonly traceContext: TraceContext | null
  /** The request id that client and backend share; null without one. */
  readonly requestId: string | null
  /** The id of the record of a denied request, which its client got too. */
  readonly decisionId: string | null
  readonly protocol: string
  /** Number of the last attempt; 0 when the first one was the last. */
  readonly retryAttempt: number
  readonly requestBytes: number
  readonly responseBytes: number
  /** The delays and aborts that rehearsals applied to the request; null without any. */
  readonly rehearsal: readonly string[] | null
  readonly error: string | null
  readonly reason: string
  /** Milliseconds on the monotonic clock that the times in `llm` use too. */
  readonly startedAt: number
  readonly durationMs: number
  /** The model call of the request; null without one. */
  readonly llm: LlmRecord | null
  /** The MCP message of the request; null without one. */
  readonly mcp: McpRecord | null
  /** The outcomes of shadow policies; null without any. */
  readonly shadows: RequestShadowRecord | null
}

/** Returns the record of a message or connection that was refused before it became a request. */
export function refusedRecord(source: { source: string; sni: string }, status: number, code: string): AccessRecord {
  return {
    listenerName: null,
    routeName: null,
    endpoint: null,
    srcAddr: source.source,
    srcIdentity: null,
    method: null,
    host: null,
    target: null,
    version: null,
    status,
    grpcStatus: null,
    sni: source.sni === '' ? null : source.sni,
    traceContext: null,
    requestId: null,
    decisionId: null,
    protocol: 'http',
    retryAttempt: 0,
    requestBytes: 0,
    responseBytes: 0,
    rehearsal: null,
    error: code,
    reason: 'InvalidRequest',
    startedAt: 0,
    durationMs: 0,
    llm: null,
    mcp: null,
    shadows: null,
  }
}
