import type { RpcMessage } from '../../message.ts'
import type { AnswerSink, LinkCall, TargetFailure } from '../transport.ts'

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

export const LOST: TargetFailure = { code: 'session_lost', message: 'its stream is not open' }
