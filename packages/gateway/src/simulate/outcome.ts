import type { RequestContext } from '../pipeline/context/request-context.ts'
import type { AccessRecord } from '../telemetry/log/access-record.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import type { TraceEvent } from '../telemetry/trace/trace-event.ts'
import type { Unknown, UpstreamMessage } from './world.ts'

type HeaderLines = readonly (readonly [name: string, value: string])[]

/** A request of a simulated client. */
export interface SimulatedRequest {
  /** The port of the bind; null is the first bind that serves the scheme. */
  port: number | null
  scheme: 'http' | 'https'
  version: 'HTTP/1.1' | 'HTTP/2'
  method: string
  /** Host or `:authority`. */
  authority: string
  /** Path and query. */
  target: string
  /** The TLS server name of the client; the host of the authority when unset. */
  sni?: string
  headers: HeaderLines
  body: Buffer
  trailers: HeaderLines | null
  /** The address of the client. */
  client: { address: string; port: number }
  /** The address that the client connected to; null is the port of the bind on 127.0.0.1. */
  server: { address: string; port: number } | null
}

/** The response that a simulated client received. */
export interface SimulatedResponse {
  readonly status: number
  readonly headers: HeaderLines
  readonly body: Buffer
  readonly trailers: HeaderLines | null
  /** Whether the response breaks off. */
  readonly isBroken: boolean
}

/** The result of one simulated request. */
export interface Outcome {
  /** Null when the connection was closed without a response; `closedBy` says why. */
  readonly response: SimulatedResponse | null
  readonly closedBy: string | null
  /** The access log record; null when the request was refused before it reached a listener. */
  readonly access: AccessRecord | null
  /** The record of the recorder, with all details; null without details. */
  readonly record: RequestRecord | null
  /** The context of the request as the pipeline left it; null when the request was refused before it reached a listener. */
  readonly request: RequestContext | null
  /** The key of the route that matched, and the index of its match from 0; null when no route matched. */
  readonly matched: { readonly route: string; readonly index: number } | null
  /**
   * The names of headers that the record lacks and that were read before the response or the backend call, one entry
   * for each read.
   */
  readonly missingReads: readonly string[]
  readonly events: readonly TraceEvent[]
  /** Requests to backends and to services of policies, in order. */
  readonly upstreamRequests: readonly UpstreamMessage[]
  readonly unknowns: readonly Unknown[]
}
