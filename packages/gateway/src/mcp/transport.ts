import type { HeaderBlock, Source } from '@portico/http'
import type { Reason } from '../pipeline/context/reply.ts'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import type { CallContext } from '../pipeline/context/step.ts'
import type { RecordedTargetFailure, TargetFailureCause } from '../records/mcp-record.ts'
import type { RpcMessage } from './protocol.ts'

/** The transport of one target. The engine does not know which kind of transport it uses. */
export interface TargetTransport {
  /** Whether another worker or replica can continue a session with nothing but `TargetLink.session`. */
  readonly isPortable: boolean
  /** Whether clients of revisions without sessions share one connection, so that their request ids may collide. */
  readonly isOneCaller?: boolean
  /** Whether the transport cannot report that a stream has opened: `listen` then counts as open at once. */
  readonly listensSilently?: boolean
  /** Returns the link of one session to the target. Nothing is sent or started before the first message. */
  link(session: LinkSession): TargetLink
}

interface LinkSession {
  /** The gateway's own name of the session, or of the request for clients without sessions. */
  key: string
  /** The target's own session id; empty before `initialize`. */
  target: string
  /** Whether the session lasts for one request, because the client has no session. */
  isPassing?: boolean
}

/** The link of one session to a target. */
export interface TargetLink {
  /** The target's own session id, known after its response to `initialize`; empty when it gave out none. */
  readonly session: string
  /** Sends a request. `answer` gets the messages of the target that belong to it, the response last. */
  request(message: RpcMessage, caller: Caller, answer: AnswerSink): LinkCall
  /** Sends a notification or a response. `done` gets null once the target has accepted the message, or the failure. */
  tell(message: RpcMessage, caller: Caller, done: (failure: TargetFailure | null) => void): LinkCall
  /** Opens the stream of messages outside of requests; resumes it after `lastEventId` unless that is empty. */
  listen(lastEventId: string, caller: Caller, answer: AnswerSink): LinkCall
  /**
   * Joins a stream of messages outside of requests that several clients share: `answer` gets the target's requests that
   * may belong to `request`, or all messages when `request` is null. `ready` is called once the stream is open, or cannot
   * be opened. Absent in transports with one stream for all messages.
   */
  attend?(request: RpcMessage | null, caller: Caller, answer: AnswerSink, ready: () => void): LinkCall
  /** Ends the session at the target. */
  end(caller: Caller): void
}

/** The client request on whose behalf a target is called. */
export interface Caller {
  rx: RequestContext
  context: CallContext
  /** The headers of the client's request to forward, without hop-by-hop and session headers. */
  headers: HeaderBlock
  /** The revision negotiated with the target; empty before that. */
  version: string
}

/** Receives the messages of a target. Exactly one of `closed` and `failed` is called, at the end, unless the call is cancelled. */
export interface AnswerSink {
  /** Called when the target has opened a stream, before its messages; not called by transports that cannot tell. */
  opened?(): void
  /** Takes one message; false means to pause until `resume`. `eventId` is empty when the target sent none. */
  message(message: RpcMessage, eventId: string): boolean
  /** Takes an event without data: the id to resume from if the stream breaks, and the delay in milliseconds before that. */
  mark?(eventId: string, retryMs: number | null): void
  /**
   * Takes a whole response body unparsed; nothing follows. Absent in sinks that have to read the response. A transport
   * without such a body calls `message` in its place.
   */
  raw?(headers: HeaderBlock, body: Source): void
  /** Called when the stream has ended; without a response before, the target closed the stream on purpose. */
  closed(): void
  failed(failure: TargetFailure): void
}

export interface LinkCall {
  /** Cancels the call, because the client no longer waits for it. */
  cancel(cause: Error): void
  /** Continues after `message` returned false. */
  resume(): void
}

/** The failure of a call to a target. */
export interface TargetFailure {
  code:
    | 'session_lost' // The target no longer knows the session, and has not processed the message.
    | 'unavailable' // The target was not reached or started, or is over its limits: it has not seen the message.
    | 'broken' // The connection was lost: the target may have seen the message.
    | 'refused' // The target responded with an HTTP error.
    | 'unsupported' // The target has no such stream.
    | 'bad_answer' // The response is not valid MCP.
  /** The cause for records, when `code` and `status` do not tell it. */
  cause?: TargetFailureCause
  /** The cause, for people; without secrets. */
  message: string
  /** The status, headers and body of an HTTP response. */
  status?: number
  headers?: HeaderBlock
  body?: Buffer
  /** The JSON-RPC error in the HTTP response, when it is one for the request. */
  error?: RpcMessage
  /** The reason for logs and metrics, when the gateway refused the call and not the target. */
  reason?: Reason
}

/** Returns the failure for the record of the message. */
export function recordedFailure(target: string, { code, cause, status }: TargetFailure): RecordedTargetFailure {
  const byCode = status === undefined ? CAUSE_BY_CODE[code] : 'http_error'
  return { target, cause: cause ?? byCode, status: status ?? null }
}

const CAUSE_BY_CODE: Readonly<Record<TargetFailure['code'], TargetFailureCause>> = {
  session_lost: 'lost',
  unavailable: 'other',
  broken: 'lost',
  refused: 'http_error',
  unsupported: 'other',
  bad_answer: 'invalid_response',
}
