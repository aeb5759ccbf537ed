import type { HeaderBlock, Source } from '@portico/http'
import type { RpcMessage } from '../protocol.ts'

/** The response to one request of a client. */
export interface AnswerPort {
  /** Sent as `Mcp-Session-Id` when the request begins a session; otherwise empty. */
  sessionId: string
  /** Whether the response is sent on a stream that the client opened before, together with its session id. */
  readonly isElsewhere: boolean
  readonly isOver: boolean
  /** Whether the response head was sent. */
  readonly hasBegun: boolean
  /** Sets whether a response without earlier messages is sent as an SSE event, as the targets send theirs. */
  preferEvents(isPreferred: boolean): void
  /** Sends a message before the response; false means to pause. */
  say(message: RpcMessage, eventId: string): boolean
  /** Sends an event without data: the id to resume from, and the reconnection delay. */
  mark(eventId: string, retryMs: number | null): void
  /** Sends the JSON-RPC response and ends the HTTP response. */
  respond(message: RpcMessage, eventId: string, status?: number): void
  /** Sends an unread response body, before anything else was sent. Absent when responses have to be read. */
  raw?(body: Source): void
  /** Sends a complete HTTP response. */
  whole(status: number, type: string, body: Buffer, more?: HeaderBlock | null): void
  /** Ends the response. */
  end(): void
  /** Discards later messages, because the client has left. */
  drop(): void
}
