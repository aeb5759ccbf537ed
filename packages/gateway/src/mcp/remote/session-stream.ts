import type { Waiter } from '../conversation.ts'
import type { RpcMessage } from '../protocol.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure } from '../transport.ts'
import type { Flow } from '../flow.ts'

/** The stream of a session, in this worker or another one. */
export interface SessionStream {
  /**
   * Passes the messages that belong to the request to the sink, or, without a request, the messages outside of requests.
   * `ready` gets the path that the request has to be sent to.
   */
  attend(request: RpcMessage | null, sink: AnswerSink, ready: (endpoint: string) => void): LinkCall
  /** Calls `done` with the path that messages are sent to; null when there is no such stream. */
  where(done: (endpoint: string | null) => void): void
  /** Closes the stream, because the session has ended. */
  stop(): void
}

/** A stream in this worker, which other workers may use too. */
export interface HostedStream extends SessionStream {
  /** Counts the bytes queued for waiters in other workers. */
  readonly flow: Flow
  /** Opens the stream at the target. */
  open(caller: Caller): void
  /** Adds a waiter that may be in another worker; the parameters are those of `attend`. */
  join(request: RpcMessage | null, waiter: Waiter, ready: (endpoint: string) => void): void
  leave(waiter: Waiter): void
}

export const LOST: TargetFailure = { code: 'session_lost', message: 'its stream is not open' }
