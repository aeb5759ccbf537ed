import type { Hops } from '@portico/http'
import type { BackendCallServices } from '../call/backend-call.ts'
import type { AnsweredRequest, RequestContext } from '../context/request-context.ts'
import type { Specimens } from './specimens.ts'
import type { TraceServices, TraceSink } from '../context/trace.ts'

/** Says which requests are watched. */
export interface Tracer {
  /** Whether anybody waits at all: read for every request, so it must cost nothing. */
  readonly armed: boolean
  claim(rx: RequestContext): TraceSink | null
}

/** Says which requests have spans, and begins them. */
export interface RequestTracing {
  begin(rx: RequestContext): void
}

/** What requests are called by client, backend and gateway. */
export interface RequestIds {
  begin(rx: RequestContext): void
  /** Before the head of an answer leaves. */
  answering(rx: AnsweredRequest): void
}

/** Copies bodies for records, where the config asks for it. */
export interface KeepBodies {
  /** Before the backend is called. */
  request(rx: RequestContext): void
  /** Before an answer leaves. */
  response(rx: AnsweredRequest): void
}

/** What running a request takes from the worker. */
export interface RunServices extends BackendCallServices, TraceServices {
  random: () => number
  /** The present time as a Date header has it. */
  httpDate: () => string
  hops: Hops
  tracer: Tracer
  /** Null where no spans are made. */
  tracing: RequestTracing | null
  /** Null where nobody names requests. */
  requestIds: RequestIds | null
  /** Null where no bodies are kept. */
  keepBodies: KeepBodies | null
  /** Name of the record that a request will have; null where there will be none. */
  recordId: (rx: RequestContext) => string | null
  specimens: Specimens
  /** Called once per request when everything is over. */
  finished: (rx: RequestContext) => void
}
