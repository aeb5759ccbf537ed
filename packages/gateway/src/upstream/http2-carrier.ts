import type { FrameOutput } from '../net/http2/output.ts'
import type { UpstreamCall } from './upstream-types.ts'

/** The HTTP/2 connection that carries a call. */
export interface Carrier<Call> {
  readonly scheme: 'http' | 'https'
  readonly output: FrameOutput
  /** In milliseconds. */
  now(): number
  /** Calls carried so far. */
  readonly calls: number
  /** The connection itself is gone, not only a stream of it. */
  readonly isLost: boolean
  /** Calls back once the backend has said whether streams may carry other protocols (RFC 8441). */
  whenSettled(then: (takesTunnels: boolean) => void): void
  /** Opens a stream for the call with the head of its request; false when the connection takes no more. */
  open(call: Call, block: string, ends: boolean): boolean
  /** Sends what was gathered, now or at the end of the turn. */
  flush(): void
  /** Flushes the response of the call after the frames that have come together. */
  flushAfterRead(call: Call): void
  /** Lets the backend send so many more bytes. */
  grant(stream: number, bytes: number): void
  /** Part of a response has come, with its head or without. */
  heard(isHead: boolean): void
  /** A call that was sent then was given up without a response, or within it. */
  gaveUp(sentAt: number): void
  /** Both sides of the stream have ended, or there was none. */
  ended(call: Call): void
  /** Ends the stream before its time. */
  reset(call: Call, code: number): void
  /** The connection itself has thrown, and ends. */
  faulted(error: unknown): void
}

/** A call on an HTTP/2 connection. */
export interface CarriedCall extends UpstreamCall {
  /** Called at intervals; ends a call that has waited for its head too long. */
  look(): void
}
