import type { AccessRecord } from '../../telemetry/log/access-record.ts'
import type { Id } from '../../telemetry/otlp/id.ts'
import type { SpanEncoder } from '../../telemetry/otlp/span.ts'

/** What spans tell of a request. */
export interface SpannedRequest extends AccessRecord {
  readonly scheme: string
  readonly match: { readonly match: { readonly path: { readonly kind: string; readonly value: string } } } | null
}

/** What spans take from the worker and the config. */
export interface SpanTools {
  now: () => number
  clock: () => number
  random: () => number
  encoder: SpanEncoder
  /** `namespace/name` */
  gateway: string
  /** Attributes that no span has: the config left them out, or has its own. */
  removed: ReadonlySet<string>
}

/** What a call is made for, where it is not what the request wants. */
export type CallPurpose = 'extAuth' | 'extProc' | 'rateLimit' | 'guardrail' | 'mirror' | 'jwks' | 'oauth' | 'tunnel'

/** What the span of a call shares with the others of the request. */
export interface SpanFamily {
  readonly traceId: Id
  /** Of the span of the request itself. */
  readonly spanId: Id
  readonly tracestate: string
  readonly request: SpannedRequest
  readonly tools: SpanTools
  newSpanId(): Id
  /** Milliseconds since 1970 of a time on the clock of `now`. */
  wall(time: number): number
}
