import type { Endpoint } from '../../mcp/engine/endpoint.ts'
import type { BackendIdentity, CompiledBackend } from '../../pipeline/compiled/compiled.ts'
import { type UpstreamCall, UpstreamError } from '@portico/http/client'
import { HeaderBlock, sourceOf } from '@portico/http'
import { withHiddenParameter, targetQuery } from '../../formats/query-parameters.ts'
import { McpRecord } from '../../records/mcp-record.ts'
import { ClientAnswer } from '../../mcp/client/answer.ts'
import { type CheckedMessage, checkMessage, checkPost } from '../../mcp/client/check-request.ts'
import { ClientSessions } from '../../mcp/client/client-sessions.ts'
import { type EndpointCallParts, Exchange } from '../../mcp/engine/exchange.ts'
import { SessionRequest } from '../../mcp/client/session-request.ts'
import { Refusals } from '../../mcp/client/refusals.ts'
import { type JsonObject, objectAt } from '@portico/http/json'
import { RequestReader } from '../../pipeline/body/buffered-body.ts'
import type { Reply } from '../../pipeline/context/reply.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import { serveRequest } from '../../mcp/engine/serve.ts'
import { tellTargets } from '../../mcp/engine/tell.ts'
import { BadMessage, readMessage, type RpcMessage } from '../../mcp/protocol.ts'
import type { LiveSession } from '../../mcp/session/live-session.ts'
import type { AnswerPort } from '../../mcp/engine/answer-port.ts'
import { KEEP_ALIVE_MS } from '../../mcp/client/event-body.ts'
import { MailAnswer } from '../../mcp/client/mail-answer.ts'

/** Compiles an MCP backend: clients see its targets as one MCP server. */
export function mcpBackend(identity: BackendIdentity, endpoint: Endpoint): CompiledBackend {
  return {
    ...identity,
    needsName: false,
    requestTimeoutMs: 0,
    hostname: null,
    send(request, context, handler) {
      const { rx } = context
      if (rx === undefined) {
        // Mirrored requests are refused: a tool would run twice.
        handler.failed(new UpstreamError('bad_response', 'MCP backends do not accept mirrored requests', true))
        return NO_CALL
      }
      return new McpCall(endpoint, { rx, request, context, handler }).start()
    },
    connect(_destination, _context, done) {
      done(new UpstreamError('bad_response', 'MCP backends do not accept tunnels', true))
      return NO_CALL
    },
  }
}

/** One HTTP request of a client to the MCP endpoint. */
class McpCall implements UpstreamCall {
  readonly #endpoint: Endpoint
  readonly #parts: EndpointCallParts
  #refusals: Refusals | null = null
  /** The request or stream being served, which is closed when the client leaves. */
  #work: { close(cause: Error): void } | null = null

  constructor(endpoint: Endpoint, parts: EndpointCallParts) {
    this.#endpoint = endpoint
    this.#parts = parts
    parts.rx.mcp ??= new McpRecord()
  }

  start(): this {
    const { rx, request } = this.#parts
    const refusal = this.#endpoint.guard(rx)
    const isLegacy = LEGACY_TARGET.test(request.target)
    // Without client authentication, the session id alone gives access to the session.
    if (isLegacy) rx.target = withHiddenParameter(rx.target, 'sessionId')
    if (refusal === null) {
      this.#serve(isLegacy)
    } else {
      rx.reason = 'Authorization'
      this.#refuse().http(403, refusal)
    }
    return this
  }

  cancel(cause: Error): void {
    this.#work?.close(cause)
  }

  /** `isLegacy`: the client uses the transport of revision 2024-11-05, which has one stream for all responses. */
  #serve(isLegacy: boolean): void {
    const { isStateful } = this.#endpoint
    switch (this.#parts.request.method) {
      case 'POST':
        return this.#post(isLegacy)
      case 'GET':
        if (isLegacy) return this.#session().openLegacy()
        return isStateful ? this.#session().listen() : this.#notAllowed('POST')
      case 'DELETE':
        return isStateful ? this.#session().end() : this.#notAllowed('POST')
      default:
        return this.#notAllowed(isStateful ? 'GET, POST, DELETE' : 'POST')
    }
  }

  #notAllowed(allowed: string): void {
    this.#refuse().http(405, 'method not allowed', [['allow', allowed]])
  }

  #post(isLegacy: boolean): void {
    const post = new PostCall(this.#endpoint, this.#parts, () => this.#refuse())
    this.#work = post
    post.start(isLegacy)
  }

  /** Returns the handler of a request about the session as a whole. */
  #session(): SessionRequest {
    const request = new SessionRequest(this.#endpoint, this.#parts, () => this.#refuse())
    this.#work = request
    return request
  }

  /** Creates the `Refusals` lazily, because few requests are refused. */
  #refuse(): Refusals {
    return (this.#refusals ??= new Refusals(this.#parts))
  }
}

/** Matches a path whose last segment is `sse`, with or without a query. */
const LEGACY_TARGET = /^(?:[^?]*\/)?sse(?:\?|$)/
const NO_CALL: UpstreamCall = { cancel() {} }

/** One POST request: it carries one message of a client. */
class PostCall extends RequestReader {
  protected readonly rx: RequestContext
  readonly #endpoint: Endpoint
  readonly #parts: EndpointCallParts
  readonly #refuse: () => Refusals
  readonly #sessions: ClientSessions
  #exchange: Exchange | null = null
  /** Whether the response is sent on the stream that the client opened before. */
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

  /** Returns the session of the message; null after it has refused the message. */
  #sessionFor(message: RpcMessage, { version, meta }: CheckedMessage): LiveSession | null {
    const { headers } = this.#parts.request
    if (meta !== null) {
      if (!headers.has('mcp-session-id')) return this.#sessions.ofCaller(version, meta)
      this.#refuse().badRequest(message.id, 'this protocol revision has no sessions')
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
    else tellTargets(exchange, message, () => answer.whole(202, '', NO_BODY))
  }

  /**
   * Creates the response. Keepalive comments would send the response head, so there are none while `initialize` determines
   * the session id, and none for messages without a response.
   */
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
      // The stream was closed while the session was being initialized, so the session could not be ended then.
      if (message.method === 'initialize') exchange?.end()
    })
    this.#serve(message, session, null, answer)
    const exchange = this.#exchange
    if (message.method === 'notifications/initialized') answer.startListening()
    // The response is sent on the stream, and outlives this request.
    this.#exchange = null
    handler.responded({ status: 202, headers: new HeaderBlock(), body: sourceOf(NO_BODY) })
  }
}

const NO_BODY = Buffer.alloc(0)
const CLIENT_GONE = new Error('the client left')
