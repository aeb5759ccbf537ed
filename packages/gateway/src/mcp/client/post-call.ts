import { type JsonObject, objectAt } from '@portico/http/json'
import { HeaderBlock, sourceOf } from '@portico/http'
import { RequestReader } from '../../pipeline/body/buffered-body.ts'
import type { Reply } from '../../pipeline/context/reply.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import { targetQuery } from '../../pipeline/route/target.ts'
import type { Endpoint } from '../engine/endpoint.ts'
import { serveRequest } from '../engine/serve.ts'
import { tellTargets } from '../engine/tell.ts'
import { BadMessage, readMessage, type RpcMessage } from '../message.ts'
import type { LiveSession } from '../session/live-session.ts'
import { ClientAnswer } from './answer.ts'
import type { AnswerPort } from '../engine/answer-port.ts'
import { type CheckedMessage, checkMessage, checkPost } from './check-request.ts'
import { ClientSessions } from './client-sessions.ts'
import { KEEP_ALIVE_MS } from './event-body.ts'
import { type EndpointCallParts, Exchange } from '../engine/exchange.ts'
import { MailAnswer } from './mail-answer.ts'
import type { Refusals } from './refusals.ts'

/** A POST: one message of a client. */
export class PostCall extends RequestReader {
  protected readonly rx: RequestContext
  readonly #endpoint: Endpoint
  readonly #parts: EndpointCallParts
  readonly #refuse: () => Refusals
  readonly #sessions: ClientSessions
  #exchange: Exchange | null = null
  /** The answer comes by the stream that the client opened before. */
  #isLegacy = false
  #isCancelled = false

  constructor(endpoint: Endpoint, parts: EndpointCallParts, refuse: () => Refusals) {
    super()
    this.rx = parts.rx
    this.#endpoint = endpoint
    this.#parts = parts
    this.#refuse = refuse
    this.#sessions = new ClientSessions(endpoint, parts.rx)
  }

  start(isLegacy: boolean): void {
    this.#isLegacy = isLegacy
    const refusal = checkPost(this.#parts.request.headers, isLegacy)
    if (refusal === null) this.readRequest(this.#endpoint.maxBytes)
    else this.#refuse().http(refusal.status, refusal.text)
  }

  close(cause: Error): void {
    this.#isCancelled = true
    this.#exchange?.cancel(cause)
  }

  protected bodyRead(refusal: Reply | undefined): void {
    if (this.#isCancelled) return
    if (refusal !== undefined) return this.#refuse().reply(refusal)
    const { rx } = this
    const message = readMessage(rx.bufferedBody!.whole!)
    if (message instanceof BadMessage) return this.#refuse().unreadable(message)
    rx.mcp!.method = message.method
    if (this.#isLegacy) this.#legacyMessage(message)
    else this.#message(message)
  }

  #message(message: RpcMessage): void {
    const { rx, request } = this.#parts
    const checked = checkMessage(message, request.headers, !this.#endpoint.namer.isMerged)
    if ('status' in checked) return this.#refuse().message(message, checked)
    rx.mcp!.version = checked.version
    const session = this.#sessionFor(message, checked)
    if (session !== null) this.#serve(message, session, checked.meta, this.#answerTo(message))
  }

  /** The session that the message belongs to; null when it has none, and the client knows. */
  #sessionFor(message: RpcMessage, { version, meta }: CheckedMessage): LiveSession | null {
    const { headers } = this.#parts.request
    if (meta !== null) {
      if (!headers.has('mcp-session-id')) return this.#sessions.ofCaller(version, meta)
      this.#refuse().badRequest(message.id, 'this revision has no sessions')
      return null
    }
    if (message.method === 'initialize') return this.#sessions.begin(objectAt(message.value, 'params'))
    if (!this.#endpoint.isStateful) return this.#sessions.passing(version)
    return this.#sessions.named(headers, this.#refuse, message.id)
  }

  #serve(message: RpcMessage, session: LiveSession, requestMeta: JsonObject | null, answer: AnswerPort): void {
    const exchange = new Exchange(this.#endpoint, this.#parts, session, answer, requestMeta)
    this.#exchange = exchange
    if (message.kind === 'request') serveRequest(exchange, message)
    else tellTargets(exchange, message, () => answer.whole(202, '', NOTHING))
  }

  /** A comment would begin the answer: not before the id of a session is known, and not where nothing follows. */
  #answerTo({ kind, method }: RpcMessage): ClientAnswer {
    return new ClientAnswer({
      handler: this.#parts.handler,
      deadlines: this.#endpoint.deadlines,
      keepAliveMs: kind === 'request' && method !== 'initialize' ? KEEP_ALIVE_MS : 0,
      resumed: () => this.#exchange?.resume(),
      cancelled: (cause) => this.#exchange?.cancel(cause),
    })
  }

  #legacyMessage(message: RpcMessage): void {
    const { handler, request } = this.#parts
    const id = new URLSearchParams(targetQuery(request.target)).get('sessionId')
    const session = id === null ? null : this.#sessions.find(id)
    if (session === null) return this.#refuse().sessionNotFound(message.id)
    const answer = new MailAnswer(this.#endpoint.hub, session.state.key, () => {
      exchange?.cancel(CLIENT_GONE)
      // The stream was closed while its session began, and could not end what was not there yet.
      if (message.method === 'initialize') exchange?.end()
    })
    this.#serve(message, session, null, answer)
    const exchange = this.#exchange
    if (message.method === 'notifications/initialized') answer.startListening()
    // The answer comes by the stream, and does not wait for this request to end.
    this.#exchange = null
    handler.responded({ status: 202, headers: new HeaderBlock(), body: sourceOf(NOTHING) })
  }
}

const NOTHING = Buffer.alloc(0)
const CLIENT_GONE = new Error('the client left')
