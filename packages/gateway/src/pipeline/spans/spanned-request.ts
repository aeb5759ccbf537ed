import type { AccessRecord } from '../../telemetry/log/access-record.ts'
import type { Id } from '../../telemetry/otlp/id.ts'
import type { SpanEncoder } from '../../telemetry/otlp/span.ts'

/** The fields of a request that spans read. */
export interface SpannedRequest extends AccessRecord {
  readonly scheme: string
  readonly match: { readonly match: { readonly path: { readonly kind: string; readonly value: string } } } | null
}

/** The services and settings of spans. */
export interface SpanTools {
  now: () => number
  clock: () => number
  random: () => number
  encoder: SpanEncoder
  /** `namespace/name` */
  gateway: string
  /** Attributes that the config removes or replaces. */
  removed: ReadonlySet<string>
}

/** The purpose of a call that is not to the backend of the request. */
export type CallPurpose =
  | 'extAuth'
  | 'extProc'
  | 'endpointPicker'
  | 'rateLimit'
  | 'guardrail'
  | 'embeddings'
  | 'mirror'
  | 'jwks'
  | 'oauth'
  | 'tunnel'

/** The properties that all spans of a request share. */
export interface SpanFamily {
  readonly traceId: Id
  /** The id of the span of the request itself. */
  readonly spanId: Id
  readonly tracestate: string
  readonly request: SpannedRequest
  readonly tools: SpanTools
  newSpanId(): Id
  /** Converts a time of the clock `now` to milliseconds since 1970. */
  wall(time: number): number
}
