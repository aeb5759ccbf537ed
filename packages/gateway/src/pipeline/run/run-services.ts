import type { ConnectionInfo, Hops, Sink } from '@portico/http'
import type { BackendCallServices } from '../call/backend-call.ts'
import type { AnsweredRequest, RequestContext } from '../context/request-context.ts'
import type { RequestTelemetry, TelemetryParts } from '../../telemetry/request-telemetry.ts'
import type { RawRun } from './raw-run.ts'
import type { ShapeKeepalive } from './shape-keepalive.ts'
import type { TraceSink } from '../context/trace.ts'

/** Finds the watcher of a request; see `TraceWatch`. */
export interface Tracer {
  /** Whether any watcher waits; read for every request, so it must be cheap. */
  readonly armed: boolean
  claim(rx: RequestContext): TraceSink | null
}

/** Decides which requests have spans, and begins them. */
export interface RequestTracing {
  begin(rx: RequestContext): void
}

/** Assigns the ids of requests that client, backend and gateway share. */
export interface RequestIds {
  begin(rx: RequestContext): void
  /** Called before the head of a response is sent. */
  answering(rx: AnsweredRequest): void
}

/** Copies bodies for records. */
export interface KeepBodies {
  /** Called before the backend call. */
  request(rx: RequestContext): void
  /** Called before a response is sent. */
  response(rx: AnsweredRequest): void
}

/** The entrance to telemetry for everything that runs. */
export type RunTelemetry = RequestTelemetry<RequestContext, AnsweredRequest, RawRun, ConnectionInfo>

export type RunTelemetryParts = TelemetryParts<RequestContext, AnsweredRequest, RawRun, ConnectionInfo>

/** The ledger of model calls, as running a request needs it. */
export interface RequestLedger {
  /** Returns a sink for the response, which tells `owner` before the client can take the response for complete. */
  watchEnd(sink: Sink, length: number, owner: ResponseOwner): WatchedSink
  /** Settles the budgets of a request and keeps its entry; called once. */
  charge(rx: RequestContext): void
}

interface ResponseOwner {
  /** Whether the last record of a stream has come, so that nothing but the end of the body follows. */
  readonly isEnding: boolean
  /** Called once, before the last bytes are sent. */
  ending(): void
}

export interface WatchedSink extends Sink {
  /** Called when the request is over. */
  close(): void
}

/** The services of the worker that running a request needs. */
export interface RunServices extends BackendCallServices {
  random: () => number
  /** The current time in the format of the Date header. */
  httpDate: () => string
  hops: Hops
  telemetry: RunTelemetry
  /** Null without `config.ledger`. */
  ledger: RequestLedger | null
  shapeKeepalive: ShapeKeepalive
}
