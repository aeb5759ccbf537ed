import { follow } from '../../pipeline/call/follow.ts'
import { HeaderBlock, sourceOf } from '@portico/http'
import { targetPath } from '../../pipeline/route/target.ts'
import type { UpstreamCall } from '@portico/http/client'
import type { Endpoint } from '../engine/endpoint.ts'
import { McpRecord } from '../../records/mcp-record.ts'
import { ClientAnswer } from './answer.ts'
import { checkGet } from './check-request.ts'
import { ClientSessions } from './client-sessions.ts'
import { type EndpointCallParts, Exchange } from '../engine/exchange.ts'
import { withHiddenParameter } from '../../formats/query-parameters.ts'
import { LegacyStream } from './legacy-stream.ts'
import { PostCall } from './post-call.ts'
import { Refusals } from './refusals.ts'
import { SessionStream } from './session-stream.ts'

/** One HTTP request of a client to the endpoint. */
export class McpCall implements UpstreamCall {
  readonly #endpoint: Endpoint
  readonly #parts: EndpointCallParts
  #refusals: Refusals | null = null
  /** What goes on until the client has its answer. */
  #work: { close(cause: Error): void } | null = null
  #isCancelled = false

  constructor(endpoint: Endpoint, parts: EndpointCallParts) {
    this.#endpoint = endpoint
    this.#parts = parts
    parts.rx.mcp ??= new McpRecord()
  }

  start(): this {
    const { rx, request } = this.#parts
    const refusal = this.#endpoint.guard(rx)
    const isLegacy = LEGACY_TARGET.test(request.target)
    // Where nobody signs in it is all that a session takes.
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
    this.#isCancelled = true
    this.#work?.close(cause)
  }

  /** `isLegacy`: by the transport of the revision 2024-11-05, which has one stream for all answers. */
  #serve(isLegacy: boolean): void {
    const { isStateful } = this.#endpoint
    switch (this.#parts.request.method) {
      case 'POST':
        return this.#post(isLegacy)
      case 'GET':
        if (isLegacy) return this.#openLegacy()
        return isStateful ? this.#listen() : this.#notAllowed('POST')
      case 'DELETE':
        return isStateful ? this.#delete() : this.#notAllowed('POST')
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

  /** What targets say on their own account. */
  #listen(): void {
    const { headers } = this.#parts.request
    const refusal = checkGet(headers)
    if (refusal !== null) return this.#refuse().http(refusal.status, refusal.text)
    const session = this.#sessions().named(headers, () => this.#refuse(), null)
    if (session === null) return
    const stream = new SessionStream(this.#endpoint, session, this.#parts)
    this.#work = stream
    stream.open()
  }

  /** The end of a session. */
  #delete(): void {
    const { request, handler } = this.#parts
    const session = this.#sessions().named(request.headers, () => this.#refuse(), null)
    if (session === null) return
    const ended = this.#endpoint.sessions.end(session).then(() => {
      const { deadlines } = this.#endpoint
      const answer = new ClientAnswer({ handler, deadlines, keepAliveMs: 0, resumed() {}, cancelled() {} })
      new Exchange(this.#endpoint, this.#parts, session, answer).end()
      if (!this.#isCancelled) handler.responded({ status: 200, headers: new HeaderBlock(), body: sourceOf(NOTHING) })
    })
    follow(this.#parts.rx, ended)
  }

  #openLegacy(): void {
    const { request, rx } = this.#parts
    const refusal = checkGet(request.headers)
    if (refusal !== null) return this.#refuse().http(refusal.status, refusal.text)
    const { id, session } = this.#sessions().ahead(LEGACY)
    const stream = new LegacyStream(this.#endpoint, session, this.#parts)
    this.#work = stream
    stream.open(`${targetPath(rx.target)}?sessionId=${id}`)
  }

  /** Most requests are not refused, so the object is made on demand. */
  #refuse(): Refusals {
    return (this.#refusals ??= new Refusals(this.#parts))
  }

  #sessions(): ClientSessions {
    return new ClientSessions(this.#endpoint, this.#parts.rx)
  }
}

const LEGACY = '2024-11-05'
/** A path that ends in `sse`, with or without a query. */
const LEGACY_TARGET = /^(?:[^?]*\/)?sse(?:\?|$)/
const NOTHING = Buffer.alloc(0)
