import { HeaderBlock, sourceOf } from '@portico/http'
import { targetPath } from '../../formats/query-parameters.ts'
import { follow } from '../../pipeline/call/follow.ts'
import type { Endpoint } from '../engine/endpoint.ts'
import { type EndpointCallParts, Exchange } from '../engine/exchange.ts'
import { ClientAnswer } from './answer.ts'
import { checkGet } from './check-request.ts'
import { ClientSessions } from './client-sessions.ts'
import { LegacyStream } from './legacy-stream.ts'
import type { Refusals } from './refusals.ts'
import { SessionStream } from './session-stream.ts'

/** The requests of a client that are about its session as a whole: GET opens a stream, DELETE ends the session. */
export class SessionRequest {
  readonly #endpoint: Endpoint
  readonly #parts: EndpointCallParts
  readonly #refuse: () => Refusals
  #stream: LegacyStream | SessionStream | null = null
  #isCancelled = false

  constructor(endpoint: Endpoint, parts: EndpointCallParts, refuse: () => Refusals) {
    this.#endpoint = endpoint
    this.#parts = parts
    this.#refuse = refuse
  }

  close(cause: Error): void {
    this.#isCancelled = true
    this.#stream?.close(cause)
  }

  /** Opens the stream of messages that targets send outside of requests. */
  listen(): void {
    const { headers } = this.#parts.request
    const refusal = checkGet(headers)
    if (refusal !== null) return this.#refuse().http(refusal.status, refusal.text)
    const session = this.#sessions().named(headers, this.#refuse, null)
    if (session === null) return
    const stream = new SessionStream(this.#endpoint, session, this.#parts)
    this.#stream = stream
    stream.open()
  }

  /** Opens the single stream of a client of revision 2024-11-05, which begins a session. */
  openLegacy(): void {
    const { request, rx } = this.#parts
    const refusal = checkGet(request.headers)
    if (refusal !== null) return this.#refuse().http(refusal.status, refusal.text)
    const { id, session } = this.#sessions().ahead(LEGACY)
    const stream = new LegacyStream(this.#endpoint, session, this.#parts)
    this.#stream = stream
    stream.open(`${targetPath(rx.target)}?sessionId=${id}`)
  }

  /** Ends the session. */
  end(): void {
    const { request, handler } = this.#parts
    const session = this.#sessions().named(request.headers, this.#refuse, null)
    if (session === null) return
    const ended = this.#endpoint.sessions.end(session).then(() => {
      const { deadlines } = this.#endpoint
      const answer = new ClientAnswer({ handler, deadlines, keepAliveMs: 0, resumed() {}, cancelled() {} })
      new Exchange(this.#endpoint, this.#parts, session, answer).end()
      if (!this.#isCancelled) handler.responded({ status: 200, headers: new HeaderBlock(), body: sourceOf(NO_BODY) })
    })
    follow(this.#parts.rx, ended)
  }

  #sessions(): ClientSessions {
    return new ClientSessions(this.#endpoint, this.#parts.rx)
  }
}

const LEGACY = '2024-11-05'
const NO_BODY = Buffer.alloc(0)
