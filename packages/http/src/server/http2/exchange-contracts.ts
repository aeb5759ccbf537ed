import type { ConnectionInfo } from '../../exchange/exchange.ts'
import type { FrameOutput } from '../../http2/output.ts'

/** The connection of an exchange, as the exchange uses it. */
export interface ExchangeHost<Exchange> {
  readonly info: ConnectionInfo
  readonly output: FrameOutput
  /** In milliseconds. */
  now(): number
  /** Sends the gathered frames, now or at the end of the turn. */
  flush(): void
  /** Lets the client send this many more bytes. */
  grant(stream: number, bytes: number): void
  /** Called when both sides of the stream have ended. */
  ended(exchange: Exchange): void
  /** Resets the stream. */
  reset(exchange: Exchange, code: number, cause: Error): void
  /** Ends the connection, because its own code has thrown. */
  faulted(error: unknown): void
}

/** The exchange that a request body belongs to. */
export interface RequestOwner {
  /** Whether the stream is closed: nothing is sent or received on it. */
  readonly isClosed: boolean
  /** Lets the client send this many more bytes. */
  grant(bytes: number): void
  /** Sends the gathered frames. */
  flushFrames(): void
  /** Sends `100 Continue`, unless the response has begun. */
  sendContinue(): void
  /** Resets the stream, because the body does not have the announced length. */
  refuseLength(): void
  /** Called when the client has ended its side of the stream. */
  inputOver(): void
  /** Called when the consumer of the body has thrown. */
  faulted(error: unknown): void
}

/** The exchange that a response belongs to. */
export interface ResponseOwner {
  readonly method: string
  /** Whether the stream is closed: nothing is sent or received on it. */
  readonly isClosed: boolean
  /** Sends the gathered frames, now or at the end of the turn. */
  flushFrames(): void
  /** Called when the whole response was written. */
  responseSent(): void
  /** Called when the end of the stream was sent. */
  outputOver(): void
  reset(cause: Error): void
  /** Called when the source of the body has thrown. */
  faulted(error: unknown): void
  /** Ends the connection, because its own code has thrown. */
  connectionFaulted(error: unknown): void
}

/** The flow-control window of a request body, in bytes. */
export interface WindowLimits {
  readonly windowSize: number
  readonly largestWindowSize: number
}

export interface StallLimits {
  /** Milliseconds for a client that does not send. */
  stallTimeoutMs: number
  /** Milliseconds for a client that does not read. */
  idleTimeoutMs: number
}
