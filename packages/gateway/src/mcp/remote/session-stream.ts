import type { Waiter } from '../conversation.ts'
import type { RpcMessage } from '../message.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure } from '../transport.ts'
import type { Flow } from '../flow.ts'

/** The stream of a session, wherever it is. */
export interface SessionStream {
  /**
   * Gives the sink what the request brings, or, without one, what the target says on its own account. `ready` gets the
   * path that the request is to be sent to.
   */
  attend(request: RpcMessage | null, sink: AnswerSink, ready: (endpoint: string) => void): LinkCall
  /** Where messages go; null when there is no such stream. */
  where(done: (endpoint: string | null) => void): void
  /** The session is over. */
  stop(): void
}

/** One that this worker has, and may share with others. */
export interface HostedStream extends SessionStream {
  /** What is told of messages that wait for those who are elsewhere. */
  readonly flow: Flow
  /** Asks the target for it. */
  open(caller: Caller): void
  /** `attend` for somebody who may be elsewhere. */
  join(request: RpcMessage | null, waiter: Waiter, ready: (endpoint: string) => void): void
  leave(waiter: Waiter): void
}

export const LOST: TargetFailure = { code: 'session_lost', message: 'its stream is not open' }
