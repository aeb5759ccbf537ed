import { follow } from '../../pipeline/call/follow.ts'
import { Deadline, type HeaderBlock, ObservedBody, type Source } from '@portico/http'
import type { MessageSpan } from '../../pipeline/spans/message-span.ts'
import { withSpan } from '../../pipeline/traced/with-span.ts'
import { isListMethod } from '../merge/list-page.ts'
import type { RpcMessage } from '../message.ts'
import { isKnownRevision, isSessionless } from '../revisions.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure, TargetLink } from '../transport.ts'
import {
  answerInPlace,
  CANNOT_BE_ASKED,
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

/** What takes the answer to a call. */
export interface CallSink extends AnswerSink {
  /** Takes a question of the target to the client, which speaks a revision without such; or says why it cannot. */
  asked?(question: RpcMessage): string | null
}

/**
 * One request to one target of a session. A target that does not know the session, or forgot it, is told of it first;
 * that is safe, for it has not looked at the request.
 */
export class TargetCall implements LinkCall, AnswerSink {
  readonly #session: LiveSession
  readonly #target: Target
  readonly #message: RpcMessage
  readonly #caller: Caller
  /** Null where nobody makes spans of the request. */
  readonly #span: MessageSpan | null
  readonly #sink: CallSink
  #call: LinkCall | null = null
  /** What the request was sent by. */
  #link: TargetLink | null = null
  /** What the target knows the request by, where that is not the client's own id. */
  #ownId: string | null = null
  #limit: Deadline | null = null
  /** What the target says besides. */
  #overhearing: LinkCall | null = null
  #hasBegunAnew = false
  #hasAnswered = false
  /** The stream at hand ends, and something better follows. */
  #isIgnored = false
  #isOver = false

  constructor(session: LiveSession, target: Target, message: RpcMessage, caller: Caller, sink: CallSink) {
    this.#session = session
    this.#target = target
    this.#message = message
    const { rx, context, version } = caller
    const begun = rx.spans?.beginMessage({ method: message.method, target: target.name, version }) ?? null
    this.#span = begun === null ? null : begun.span
    this.#caller = begun === null ? caller : { ...caller, context: withSpan(context, begun.place) }
    this.#sink = sink
  }

  /** `limitMs` is how long the target may take; 0 leaves it to the request. */
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

  /** Only where the one who asked takes bytes, and they are good as they are. */
  get raw(): ((headers: HeaderBlock, body: Source) => void) | undefined {
    // Whether a target knows discovery at all is in its answer.
    if (this.#isOlder || this.#message.method === DISCOVER || this.#sink.raw === undefined) return undefined
    return (headers, body) => {
      this.#unlimit()
      const span = this.#span
      const told = span === null ? body : new ObservedBody(body, { chunk() {}, over: () => span.passed() })
      this.#sink.raw?.(headers, told)
    }
  }

  /** The client speaks a revision without sessions, the target does not. */
  get #isOlder(): boolean {
    return isSessionless(this.#session.state.version) && !isSessionless(this.#session.versionAt(this.#target))
  }

  /** Several clients are one caller there, and each counts its requests from the same number. */
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
    const why = isPing || this.#sink.asked === undefined ? CANNOT_BE_ASKED : this.#sink.asked(question)
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

  /** A target that lacks a revision of ours is bridged; a revision that nobody knows is the client's mistake. */
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

  /** A session for this one request was begun for nothing. */
  #abandon(): void {
    if (this.#session.isPassing) this.#session.link(this.#target).end(this.#caller)
  }

  /** What is asked here does no harm when it is asked again, so the target may have heard it. */
  #expire(ms: number): void {
    this.cancel(TOO_SLOW)
    this.#sink.failed({ code: 'unavailable', message: `it did not answer within ${ms} ms` })
  }

  #unlimit(): void {
    if (this.#limit !== null) this.#target.limits.deadlines.clear(this.#limit)
    this.#limit = null
  }

  /** The target was taken to need no telling. */
  get #mayBeStranger(): boolean {
    if (this.#session.isAssumed(this.#target)) return true
    return isSessionless(this.#session.state.version) && !this.#isOlder
  }

  #introduce(): void {
    this.#unlimit()
    const introduction = this.#session.introductions.get(this.#target.name)
    if (introduction === undefined) throw new Error(`target ${this.#target.name} has not introduced itself`)
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

  /** The request in the revision of the target. */
  get #sent(): RpcMessage {
    return this.#isOlder ? asOlderRequest(this.#message) : this.#message
  }

  /** Under an id that nobody else uses. */
  #sendOwn(link: TargetLink): void {
    const { sent, sink, own } = withOwnId(this.#sent, this)
    this.#ownId = own
    this.#call = link.request(sent, this.#callerAt, sink)
  }

  /** What the call needs to know may be asked on the stream that the target has of its own: that is open before it is sent. */
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

  /** Nothing of it is under way at the target. */
  #answered(): void {
    this.#ownId = null
    this.#hearNoMore()
  }

  #hearNoMore(): void {
    this.#overhearing?.cancel(ANSWERED)
    this.#overhearing = null
  }

  /** A connection that is cut says nothing to a target with sessions, or to a program. */
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

/** Calls of tools may take as long as they like. */
function usualLimit(method: string, { beginMs, listMs }: TargetLimits): number {
  if (method === DISCOVER) return beginMs
  return isListMethod(method) ? listMs : 0
}

const ANSWERED = new Error('the call is answered')
/** A target that does not even open its stream is not waited for. */
const PATIENCE_MS = 1_000
const TOO_SLOW = new Error('the target takes too long')
const DISCOVER = 'server/discover'
const LISTEN = 'subscriptions/listen'
