import type { Hops } from '@portico/http'
import type { BackendCallServices } from '../call/backend-call.ts'
import type { AnsweredRequest, RequestContext } from '../context/request-context.ts'
import type { Specimens } from './specimens.ts'
import type { TraceServices, TraceSink } from '../context/trace.ts'

/** Finds the watcher of a request. */
export interface Tracer {
  /** Whether there is any watcher: read for every request, so it must cost nothing. */
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

/** Copies bodies for records, if the config asks for them. */
export interface KeepBodies {
  /** Called before the backend call. */
  request(rx: RequestContext): void
  /** Called before a response is sent. */
  response(rx: AnsweredRequest): void
}

/** The services of the worker that running a request needs. */
export interface RunServices extends BackendCallServices, TraceServices {
  random: () => number
  /** The current time in the format of the Date header. */
  httpDate: () => string
  hops: Hops
  tracer: Tracer
  /** Null when the config sends no spans. */
  tracing: RequestTracing | null
  /** Null when the config has no request ids. */
  requestIds: RequestIds | null
  /** Null when no bodies are recorded. */
  keepBodies: KeepBodies | null
  /** Returns the id of the record that a request will have; null when requests are not recorded. */
  recordId: (rx: RequestContext) => string | null
  specimens: Specimens
  /** Called once per request when everything is over. */
  finished: (rx: RequestContext) => void
}
