import type { AccessRecord } from '../log/access-record.ts'
import type { KeptBytes } from './kept-bytes.ts'
import type { RecordPhase, RecordValues } from './record.ts'

/** The step that answered a request, as the runner knows it. */
export interface Decision {
  readonly phase: RecordPhase
  /** The names of all steps in the list of the deciding step. */
  readonly names: readonly string[]
  readonly index: number
  readonly reason: string
  readonly status: number
  /** Milliseconds of the clock of `startedAt`. */
  readonly at: number
}

/** A failed call to a backend, which another call followed. */
export interface FailedCall {
  readonly target: string
  readonly status: number | null
  readonly error: string | null
  readonly from: number
  readonly to: number
}

interface StepNames {
  readonly names: readonly string[]
}

export interface RecordedListener {
  readonly key: string
  readonly name: string
  readonly bind: string
  readonly request: StepNames | null
  readonly response: StepNames | null
}

export interface RecordedRoute {
  readonly key: string
  readonly name: string
  readonly request: StepNames | null
  readonly response: StepNames | null
  readonly backends: readonly {
    readonly key: string
    readonly name: string
    readonly request: StepNames | null
    readonly sign: StepNames | null
    readonly response: StepNames | null
  }[]
}

interface Headers {
  forEach(visit: (name: string, value: string) => void): void
}

/** Headers that remember how they were received. */
interface ReceivedHeaders extends Headers {
  readonly isEdited: boolean
  forEachReceived(visit: (name: string, value: string) => void): void
}

/** The fields of a finished request, or connection without HTTP, that are recorded. */
export interface RecordedRun extends AccessRecord {
  readonly listener: RecordedListener | null
  readonly route: RecordedRoute | null
  readonly backendIndex: number
}

/** The recorded fields of a request; the `RequestContext` of the pipeline has them. */
export interface RecordedRequest extends RecordedRun {
  readonly headers: ReceivedHeaders
  readonly responseHeaders: Headers | null
  /** Path and query as they go to the backend. */
  readonly upstreamTarget: string
  readonly scheme: 'http' | 'https'
  readonly decision: Decision | null
  readonly notes: RecordValues | null
  readonly failedCalls: readonly FailedCall[] | null
  /** When the head of the backend's response arrived; 0 without a response. */
  readonly answeredAt: number
  readonly hasEvicted: boolean
  /** Serial number of the record; 0 until it is assigned. */
  serial: number
  readonly requestId: string | null
  readonly keptBodies: { readonly request: KeptBytes; readonly response: KeptBytes } | null
  readonly apiKeyName: string | null
  readonly basicAuth: { readonly username: string } | null
  readonly jwt: { readonly [claim: string]: unknown } | null
  readonly apiKey: object | null
  readonly extAuth: { readonly metadata: object } | null
  readonly extProc: object | null
  readonly metadata: object | null
  /** The choice of an endpoint of an inference pool. */
  readonly pick: object | null
}
