import type { FrameOutput } from '../../http2/output.ts'
import type { UpstreamCall } from '../upstream-types.ts'

/** The HTTP/2 connection that carries a call. */
export interface Carrier<Call> {
  readonly scheme: 'http' | 'https'
  readonly output: FrameOutput
  /** In milliseconds. */
  now(): number
  /** Calls carried so far. */
  readonly calls: number
  /** Whether calls in progress may end, but no more calls are sent. */
  readonly isLeaving: boolean
  /** Whether the whole connection is gone, not only a stream. */
  readonly isLost: boolean
  /** Calls back when the backend's settings tell whether streams may carry other protocols (RFC 8441). */
  whenSettled(then: (takesTunnels: boolean) => void): void
  /** Opens a stream with the head of the request; returns false when the connection takes no more streams. */
  open(call: Call, block: string, ends: boolean): boolean
  /** Sends the gathered frames, now or at the end of the turn. */
  flush(): void
  /** Flushes the response of the call after all frames of this read. */
  flushAfterRead(call: Call): void
  /** Lets the backend send this many more bytes. */
  grant(stream: number, bytes: number): void
  /** Called when part of a response has arrived, with its head or without. */
  heard(isHead: boolean): void
  /** Called when a call sent at `sentAt` was canceled without a response, or within it. */
  gaveUp(sentAt: number): void
  /** Called when both sides of the stream have ended, or no stream was opened. */
  ended(call: Call): void
  /** Resets the stream. */
  reset(call: Call, code: number): void
  /** Ends the connection, because its own code has thrown. */
  faulted(error: unknown): void
}

/** A call on an HTTP/2 connection. */
export interface CarriedCall extends UpstreamCall {
  /** Called at intervals; fails a call that has waited too long for the response head. */
  look(): void
}
