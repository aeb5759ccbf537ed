/** Request and response of `POST /api/send`. Types only, which programs and pages outside of the gateway share. */

import type { RequestSummary } from '../../telemetry/recorder/record.ts'
import type { TraceEvent } from '../../telemetry/trace/trace-event.ts'

/** A request to a listener of this gateway. */
export interface SendCall {
  /** Keys of the bind and of the listener, as in `GET /api/routes`. */
  readonly bind: string
  readonly listener: string
  readonly method: string
  /** With its query. */
  readonly path: string
  /** The `Host` header and the TLS server name; the hostname of the listener when left out. */
  readonly host?: string
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: string
  /** Whether to tell how it is decided, too. */
  readonly trace?: boolean
}

/** Data of one message of the answer. A `head` comes once at most, an `end` once and last. */
export type SendEvent =
  | { readonly type: 'head'; readonly status: number; readonly headers: readonly (readonly [string, string])[] }
  /** Text unchanged, other content in Base64. */
  | { readonly type: 'body'; readonly text: string }
  | { readonly type: 'body'; readonly base64: string }
  | { readonly type: 'trace'; readonly event: TraceEvent }
  | SendEnd

export interface SendEnd {
  readonly type: 'end'
  /** Why there is no whole answer; null where there is. */
  readonly error: string | null
  /** Whether the body was longer than the returned part. */
  readonly isCut: boolean
  readonly bytes: number
  /** Microseconds from the first byte that was sent. */
  readonly took: number
  /** The record of the request; null when there is none, or not yet. */
  readonly record: RequestSummary | null
}
