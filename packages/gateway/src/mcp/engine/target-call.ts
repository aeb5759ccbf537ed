import { follow } from '../../pipeline/call/follow.ts'
import { Deadline, type HeaderBlock, ObservedBody, type Source } from '@portico/http'
import type { MessageSpan } from '../../pipeline/spans/message-span.ts'
import { withSpan } from '../../pipeline/traced/with-span.ts'
import { isListMethod } from '../merge/item-methods.ts'
import { type RpcMessage, isKnownRevision, isSessionless } from '../protocol.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure, TargetLink } from '../transport.ts'
import {
  answerInPlace,
  NO_SERVER_REQUESTS,
  hasSharedStream,
  asDiscovery,
  asNewerResult,
  asOlderRequest,
  cancellation,
  isUnknownMethod,
  isUnsupportedVersion,
  wantsSession,
  listenToOlder,
} from '../targets/older-target.ts'
import { endWith } from '../targets/end-span.ts'
import { withOwnId } from './own-id.ts'
import type { Target, TargetLimits } from '../targets/target.ts'

/** Receives the response to a call. */
interface CallSink extends AnswerSink {
  /** Forwards a request of the target to a client whose revision has no such requests; returns why it cannot, or null. */
  asked?(question: RpcMessage): string | null
}

/**
 * One request to one target of a session. A target that does not know the session is initialized first, and the request
 * is sent again: that is safe, because the target has not processed the request.
 */
export class TargetCall implements LinkCall, AnswerSink {
  readonly #session: LiveSession
  readonly #target: Target
  readonly #message: RpcMessage
  readonly #caller: Caller
  /** Null when the request is not traced. */
  readonly #span: MessageSpan | null
  readonly #sink: CallSink
  #call: LinkCall | null = null
  /** The link that the request was sent on. */
  #link: TargetLink | null = null
  /** The request id that the target received, if it differs from the client's id and the target may still be working. */
  #ownId: string | null = null
  #limit: Deadline | null = null
  /** The subscription to the target's shared stream, for requests of the target that belong to this call. */
  #overhearing: LinkCall | null = null
  #hasBegunAnew = false
  #hasAnswered = false
  /** Whether the end of the current stream is ignored, because the request is being sent again. */
  #isIgnored = false
  #isOver = false

  constructor(session: LiveSession, target: Target, message: RpcMessage, caller: Caller, sink: CallSink) {
    this.#session = session
    this.#target = target
    this.#message = message
    const { rx, context, version } = caller
    const begun = rx.spans?.beginMessage({ method: message.method, target: target.name, version }) ?? null
    this.#span = begun === null ? null : begun.span
    this.#caller = begun === null ? caller : { ...caller, context: withSpan(context, begun.parent) }
    this.#sink = sink
  }

  /** Sends the request. `limitMs` is the time limit of the target; 0 selects the limit of the method. */
  start(limitMs = 0): this {
    const { limits } = this.#target
    const ms = limitMs > 0 ? limitMs : usualLimit(this.#message.method, limits)
    if (ms > 0) {
      this.#limit = new Deadline(() => this.#expire(ms))
      limits.deadlines.set(this.#limit, ms)
    }
    const isDiscovery = this.#message.method === DISCOVER && this.#isOlder
    if (isDiscovery && this.#session.introductions.has(this.#target.name)) this.#introduce()
    else if (this.#session.knows(this.#target) && !isDiscovery) this.#send()
    else this.#begin()
    return this
  }

  /** Present when the sink takes raw bytes and the response needs no conversion. */
  get raw(): ((headers: HeaderBlock, body: Source) => void) | undefined {
    // The response to `server/discover` has to be read: it tells whether the target knows the method.
    if (this.#isOlder || this.#message.method === DISCOVER || this.#sink.raw === undefined) return undefined
    return (headers, body) => {
      this.#unlimit()
      const span = this.#span
      const told = span === null ? body : new ObservedBody(body, { chunk() {}, over: () => span.passed() })
      this.#sink.raw?.(headers, told)
    }
  }

  /** Whether the client uses a revision without sessions, and the target one with sessions. */
  get #isOlder(): boolean {
    return isSessionless(this.#session.state.version) && !isSessionless(this.#session.versionAt(this.#target))
  }

  /** Whether several clients share the target's session, so that their request ids may collide. */
  get #isShared(): boolean {
    const hasState = this.#isOlder || this.#target.transport.isOneCaller === true
    return isSessionless(this.#session.state.version) && hasState
  }

  cancel(cause: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#span?.end('cancelled', cause.message)
    this.#unlimit()
    this.#tellCancelled()
    this.#call?.cancel(cause)
    this.#hearNoMore()
  }

  resume(): void {
    this.#call?.resume()
  }

  opened(): void {
    this.#sink.opened?.()
  }

  message(message: RpcMessage, eventId: string): boolean {
    if (message.kind === 'response' || this.#message.method === LISTEN) this.#unlimit()
    if (message.kind === 'response') {
      this.#answered()
      if (this.#span !== null) endWith(this.#span, message)
    }
    if (message.kind === 'request' && this.#isOlder) return this.#question(message)
    if (message.kind === 'response' && isSessionless(this.#session.state.version))
      return this.#response(message, eventId)
    this.#hasAnswered = true
    return this.#sink.message(message, eventId)
  }

  #question(question: RpcMessage): boolean {
    const isPing = question.method === 'ping'
    const why = isPing || this.#sink.asked === undefined ? NO_SERVER_REQUESTS : this.#sink.asked(question)
    if (why !== null) this.#link?.tell(answerInPlace(question, why), this.#callerAt, () => {})
    return true
  }

  #response(message: RpcMessage, eventId: string): boolean {
    const { method } = this.#message
    const isStrange = method === DISCOVER ? isUnknownMethod(message) : this.#canBridge(message)
    if (isStrange && !this.#hasBegunAnew && !this.#hasAnswered && !this.#isOlder) {
      this.#isIgnored = true
      this.#begin()
      return true
    }
    this.#hasAnswered = true
    return this.#sink.message(this.#isOlder ? asNewerResult(message, method) : message, eventId)
  }

  /** Whether the target lacks a revision that the gateway knows and can translate; unknown revisions are client errors. */
  #canBridge(message: RpcMessage): boolean {
    return isUnsupportedVersion(message) && this.#isKnownRevision
  }

  get #isKnownRevision(): boolean {
    return isKnownRevision(this.#session.state.version)
  }

  mark(eventId: string, retryMs: number | null): void {
    this.#hasAnswered = true
    this.#sink.mark?.(eventId, retryMs)
  }

  closed(): void {
    this.#answered()
    if (this.#isIgnored) {
      this.#isIgnored = false
      return
    }
    this.#unlimit()
    this.#sink.closed()
  }

  failed(failure: TargetFailure): void {
    const isSafe = !this.#hasBegunAnew && !this.#hasAnswered
    const isRefusedForGood =
      failure.error !== undefined && isUnsupportedVersion(failure.error) && !this.#isKnownRevision
    const isStranger = this.#mayBeStranger && !isRefusedForGood && wantsSession(failure, this.#message.method)
    if (isSafe && (failure.code === 'session_lost' || isStranger)) return this.#begin()
    this.#fail(failure)
  }

  #fail(failure: TargetFailure): void {
    this.#answered()
    this.#span?.end(failure.code, failure.message)
    this.#unlimit()
    this.#sink.failed(failure)
  }

  /** Ends a session that was begun for this request only. */
  #abandon(): void {
    if (this.#session.isPassing) this.#session.link(this.#target).end(this.#caller)
  }

  /** Fails as `unavailable`: requests with a time limit can be repeated safely, even if the target received them. */
  #expire(ms: number): void {
    this.cancel(TOO_SLOW)
    this.#sink.failed({ code: 'unavailable', cause: 'timeout', message: `it did not answer within ${ms} ms` })
  }

  #unlimit(): void {
    if (this.#limit !== null) this.#target.limits.deadlines.clear(this.#limit)
    this.#limit = null
  }

  /** Whether the target was assumed to need no `initialize`. */
  get #mayBeStranger(): boolean {
    if (this.#session.isAssumed(this.#target)) return true
    return isSessionless(this.#session.state.version) && !this.#isOlder
  }

  #introduce(): void {
    this.#unlimit()
    const introduction = this.#session.introductions.get(this.#target.name)
    if (introduction === undefined) throw new Error(`target ${this.#target.name} has not answered initialize`)
    this.#span?.end(null)
    this.#sink.message(asDiscovery(this.#message, introduction), '')
    this.#sink.closed()
  }

  #send(): void {
    const caller = this.#callerAt
    this.#link = this.#session.link(this.#target)
    const isSubscription = this.#message.method === LISTEN && this.#isOlder
    if (isSubscription) this.#call = listenToOlder(this.#link, this.#message, caller, this)
    else if (!this.#isShared) this.#call = this.#link.request(this.#sent, caller, this)
    else if (this.#isOlder && this.#sink.asked !== undefined && hasSharedStream(this.#link)) this.#overhear(this.#link)
    else this.#sendOwn(this.#link)
  }

  /** The request as the target's revision expects it. */
  get #sent(): RpcMessage {
    return this.#isOlder ? asOlderRequest(this.#message) : this.#message
  }

  /** Sends the request with an id that no other client uses. */
  #sendOwn(link: TargetLink): void {
    const { sent, sink, own } = withOwnId(this.#sent, this)
    this.#ownId = own
    this.#call = link.request(sent, this.#callerAt, sink)
  }

  /** Opens the target's shared stream before the request is sent: the target may send requests for this call there. */
  #overhear(link: TargetLink & Required<Pick<TargetLink, 'attend'>>): void {
    const { deadlines } = this.#target.limits
    const go = (): void => {
      deadlines.clear(patience)
      if (isReady || this.#isOver) return
      isReady = true
      this.#sendOwn(link)
    }
    let isReady = false
    const patience = new Deadline(go)
    deadlines.set(patience, PATIENCE_MS)
    const answer: AnswerSink = {
      message: (message) => (message.kind === 'request' ? this.#question(message) : true),
      closed: go,
      failed: go,
    }
    this.#overhearing = link.attend(this.#message, this.#callerAt, answer, go)
  }

  /** Called when the target has finished with the request. */
  #answered(): void {
    this.#ownId = null
    this.#hearNoMore()
  }

  #hearNoMore(): void {
    this.#overhearing?.cancel(ANSWERED)
    this.#overhearing = null
  }

  /** Sends a cancellation: targets with sessions, and processes, do not notice a closed connection. */
  #tellCancelled(): void {
    const id = this.#ownId
    if (id === null || this.#link === null) return
    this.#ownId = null
    this.#link.tell(cancellation(id), this.#callerAt, () => {})
  }

  get #callerAt(): Caller {
    return { ...this.#caller, version: this.#session.versionAt(this.#target) }
  }

  #begin(): void {
    this.#hasBegunAnew = true
    this.#hearNoMore()
    const { rx } = this.#caller
    rx.trace?.emit({ type: 'mcpSession', target: this.#target.name, action: 'initialize' })
    const begun = this.#session.begin(this.#target, this.#caller, this.#link).then((failure) => {
      if (this.#isOver) return this.#abandon()
      if (failure !== null) this.#fail(failure)
      else if (this.#message.method === DISCOVER && this.#isOlder) this.#introduce()
      else this.#send()
    })
    follow(rx, begun)
  }
}

/** Returns the time limit of a method in milliseconds; 0 for methods without a limit, such as tool calls. */
function usualLimit(method: string, { beginMs, listMs }: TargetLimits): number {
  if (method === DISCOVER) return beginMs
  return isListMethod(method) ? listMs : 0
}

const ANSWERED = new Error('the call has its response')
/** How long to wait for the shared stream of a target to open. */
const PATIENCE_MS = 1_000
const TOO_SLOW = new Error('the target exceeded its time limit')
const DISCOVER = 'server/discover'
const LISTEN = 'subscriptions/listen'
