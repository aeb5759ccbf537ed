import type { UpstreamCall } from './upstream-types.ts'

/** The HTTP/2 connection that carries a call. */
export interface Carrier {
  readonly scheme: 'http' | 'https'
  /** In milliseconds. */
  now(): number
  /** Calls carried so far. */
  readonly calls: number
  /** The connection itself is gone, not only a stream of it. */
  readonly isLost: boolean
  /** Why the connection is gone, where the backend did not close it. */
  readonly lostBecause: string | null
  /** Calls back once the backend has said whether streams may carry other protocols (RFC 8441). */
  whenSettled(then: (takesTunnels: boolean) => void): void
  /** The backend said that it will not look at this stream. */
  disowned(streamId: number | undefined): boolean
  /** Part of a response has come, with its head or without. */
  heard(isHead: boolean): void
  /** A call that was sent then was given up without a response, or within it. */
  gaveUp(sentAt: number): void
  finished(call: CarriedCall): void
}

/** A call on an HTTP/2 connection. */
export interface CarriedCall extends UpstreamCall {
  /** Called at intervals; ends a call that has waited for its head too long. */
  look(): void
}
