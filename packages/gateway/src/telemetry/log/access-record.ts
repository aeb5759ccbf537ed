import type { LlmRecord } from '../../records/llm-record.ts'
import type { McpRecord } from '../../records/mcp-record.ts'
import type { TraceContext } from '../traceparent.ts'

/** What is logged of one HTTP request or TCP connection; the request object of the pipeline has these fields itself. */
export interface AccessRecord {
  readonly listenerName: string | null
  readonly routeName: string | null
  /** `host:port` that was really called. */
  readonly endpoint: string | null
  /** `ip:port` of the client. */
  readonly srcAddr: string | null
  readonly method: string | null
  readonly host: string | null
  /** Path and query as they came. */
  readonly target: string | null
  /** `HTTP/1.1`, `HTTP/2`. */
  readonly version: string | null
  /** 0 when there was no response. */
  readonly status: number
  readonly grpcStatus: number | null
  /** Logged when there is no HTTP host. */
  readonly sni: string | null
  /** Where in a trace it was: the span of the gateway, or of the client where the gateway has none. */
  readonly traceContext: TraceContext | null
  /** What client and backend call the request, where that counts. */
  readonly requestId: string | null
  /** Name of the record of a refusal, which its client has too. */
  readonly decisionId: string | null
  readonly protocol: string
  /** Number of the last attempt; 0 when the first one was the last. */
  readonly retryAttempt: number
  readonly requestBytes: number
  readonly responseBytes: number
  readonly error: string | null
  readonly reason: string
  /** On the clock of the times in `llm`. */
  readonly startedAt: number
  readonly durationMs: number
  /** The model call behind the request, where there was one. */
  readonly llm: LlmRecord | null
  /** The MCP message behind the request, where there was one. */
  readonly mcp: McpRecord | null
}

/** The record of a message that was refused before it was a request. */
export function refusedRecord(source: { source: string; sni: string }, status: number, code: string): AccessRecord {
  return {
    listenerName: null,
    routeName: null,
    endpoint: null,
    srcAddr: source.source,
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
    error: code,
    reason: 'InvalidRequest',
    startedAt: 0,
    durationMs: 0,
    llm: null,
    mcp: null,
  }
}
