import type { HeaderBlock, Source } from '@portico/http'
import type { Reason } from '../pipeline/context/reply.ts'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import type { CallContext } from '../pipeline/context/step.ts'
import type { RpcMessage } from './message.ts'

/** How one target is reached. What is built on top does not know which transport it is. */
export interface TargetTransport {
  /** Whether `TargetLink.session` is all that another worker, or another replica, needs to go on. */
  readonly isPortable: boolean
  /** Clients without sessions are one caller to it, although each counts its requests from the same number. */
  readonly isOneCaller?: boolean
  /** It cannot say that it listens: it counts as listening at once. */
  readonly listensSilently?: boolean
  /** The target as one session has it. Nothing is sent or started before the first message. */
  link(session: LinkSession): TargetLink
}

export interface LinkSession {
  /** The gateway's own name of the session; where clients have none, one that lasts for a request. */
  key: string
  /** What the target calls the session; empty before it has one. */
  target: string
  /** The client has none: it lasts for a request. */
  isPassing?: boolean
}

/** A target within one session. */
export interface TargetLink {
  /** What the target calls the session, once its answer to `initialize` has said it; empty when it says nothing. */
  readonly session: string
  /** Sends a request. What the target says because of it comes to `answer`, the response last. */
  request(message: RpcMessage, caller: Caller, answer: AnswerSink): LinkCall
  /** Sends a notification or a response. `done` is told once the target has taken it, or why it has not. */
  tell(message: RpcMessage, caller: Caller, done: (failure: TargetFailure | null) => void): LinkCall
  /** What the target says on its own account, from behind `lastEventId` where that is not empty. */
  listen(lastEventId: string, caller: Caller, answer: AnswerSink): LinkCall
  /**
   * The same for a caller that is several clients, who share the stream: the answer gets what a request may be asked, or,
   * without one, everything. `ready` is told once the stream is open, or cannot be. Left out by those who say everything
   * on one stream.
   */
  attend?(request: RpcMessage | null, caller: Caller, answer: AnswerSink, ready: () => void): LinkCall
  /** The session is over: whatever the target keeps for it may go. */
  end(caller: Caller): void
}

/** On whose behalf a target is spoken to. */
export interface Caller {
  rx: RequestContext
  context: CallContext
  /** Headers of the client's request that may go on: hop-by-hop ones and those of the session are not among them. */
  headers: HeaderBlock
  /** Revision that the session agreed on; empty before that. */
  version: string
}

/** Takes what a target says. `closed` or `failed` is the last call, and there is exactly one of them unless the call is cancelled. */
export interface AnswerSink {
  /** The target has opened a stream; what it says follows. Transports that cannot tell leave it out. */
  opened?(): void
  /** False asks to stop until `resume` of the call. `eventId` is empty where the target gave none. */
  message(message: RpcMessage, eventId: string): boolean
  /** An event that carries nothing but its id: where to go on, should the stream break, and after how many milliseconds. */
  mark?(eventId: string, retryMs: number | null): void
  /**
   * Takes a whole answer that is one response, as bytes nobody has looked at; nothing follows. Left out by those who must
   * look. A transport that has no such bytes calls `message`.
   */
  raw?(headers: HeaderBlock, body: Source): void
  /** Nothing follows. Before the response this means that the target let go of the stream. */
  closed(): void
  failed(failure: TargetFailure): void
}

export interface LinkCall {
  /** Nobody waits for it any more. */
  cancel(cause: Error): void
  /** The sink can take more. */
  resume(): void
}

/** Why a target did not do what it was asked. */
export interface TargetFailure {
  code:
    | 'session_lost' // The target does not know the session any more; it has not looked at the message.
    | 'unavailable' // Not reached, not started, or over its limits: it has not seen the message.
    | 'broken' // Lost on the way: it may have seen the message.
    | 'refused' // It answered with an HTTP error.
    | 'unsupported' // It has no such stream.
    | 'bad_answer' // What it said is no MCP.
  /** For people; the real cause, without secrets. */
  message: string
  /** Of an HTTP answer. */
  status?: number
  headers?: HeaderBlock
  body?: Buffer
  /** The JSON-RPC error that the answer held, where it is one for the request. */
  error?: RpcMessage
  /** How logs and metrics call it, where it was not the target that refused. */
  reason?: Reason
}
