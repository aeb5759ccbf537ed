import type { HeaderBlock, Source } from '@portico/http'
import type { RpcMessage } from '../message.ts'

/** Where the answer to one request of a client goes. */
export interface AnswerPort {
  /** Goes with the head, where a session begins. */
  sessionId: string
  /** The client reads a stream that it opened before, and has its session id from there. */
  readonly isElsewhere: boolean
  readonly isOver: boolean
  /** Whether the client has seen anything of it. */
  readonly hasBegun: boolean
  /** The response comes as an event though nothing stands before it, as it does from the targets. */
  preferEvents(isPreferred: boolean): void
  /** One more message before the response; false asks to wait. */
  say(message: RpcMessage, eventId: string): boolean
  mark(eventId: string, retryMs: number | null): void
  /** The response, and with it the end. */
  respond(message: RpcMessage, eventId: string, status?: number): void
  /** A response whose bytes nobody has looked at, as long as nothing has begun. Left out where it must be read anyway. */
  raw?(body: Source): void
  /** A whole answer of HTTP. */
  whole(status: number, type: string, body: Buffer, more?: HeaderBlock | null): void
  /** Nothing follows. */
  end(): void
  /** Nobody reads it any more. */
  drop(): void
}
