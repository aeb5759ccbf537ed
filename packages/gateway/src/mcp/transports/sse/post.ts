import { collect, HeaderBlock, sourceOf } from '@portico/http'
import type { CompiledBackend } from '../../../pipeline/compiled/compiled.ts'
import type { Hub } from '../../hub.ts'
import { type SentAttempt, sendAttempt } from '../../../pipeline/call/send-attempt.ts'
import type { UpstreamCall, UpstreamError, UpstreamHandler, UpstreamResponse } from '@portico/http/client'
import { httpFailure } from '../streamable-http/http-failure.ts'
import { soon } from '../local-server.ts'
import { isReplicaGone, readAtReplica, toReplica } from '../replica.ts'
import { stopped } from '../stopped.ts'
import type { Caller, TargetFailure } from '../../transport.ts'

export interface SseServices {
  connection: CompiledBackend
  /** Path and query of the stream. */
  path: string
  /** Host as the target knows itself. */
  authority: string
  bug: (error: unknown) => void
  /** Of one message. */
  maxMessageBytes: number
  /** Several servers stand for one another, and each knows its own sessions only. */
  hasReplicas: boolean
  hub: Hub
  /** Of the target, with what it is made of: streams of another one must not be taken for its own. */
  key: string
  /** How long a stream stays open that nobody uses. */
  idleTimeoutMs: number
  /** Until the target has named the place for messages. */
  openTimeoutMs: number
}

/** Hands one message to the target; what comes of it is said on the stream. */
export class Post implements UpstreamHandler {
  readonly #services: SseServices
  readonly #caller: Caller
  readonly #done: (failure: TargetFailure | null) => void
  #call: UpstreamCall | null = null
  #isPinned = false
  #isStarting = false
  #isOver = false

  constructor(services: SseServices, caller: Caller, done: (failure: TargetFailure | null) => void) {
    this.#services = services
    this.#caller = caller
    this.#done = done
  }

  start(endpoint: string, bytes: Buffer): void {
    const headers = headersFor(this.#caller)
    headers.set('accept', 'application/json, text/event-stream')
    headers.set('content-type', 'application/json')
    const at = this.#services.hasReplicas ? readAtReplica(endpoint) : { endpoint: '', text: endpoint }
    this.#isPinned = at.endpoint !== ''
    const request = { method: 'POST', target: at.text, headers, body: sourceOf(bytes) }
    this.#isStarting = true
    sendRequest(this.#services, toReplica(this.#caller, at.endpoint), request, {
      handler: this,
      isWanted: () => !this.#isOver,
      refused: (why) => this.#finish(stopped(why)),
      sent: (call) => (this.#call = call),
    })
    this.#isStarting = false
  }

  cancel(cause: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#call?.cancel(cause)
  }

  informed(): void {}

  upgraded(_status: number, _headers: HeaderBlock, raw: { socket: { destroy(): void } }): void {
    raw.socket.destroy()
    this.#finish({ code: 'bad_answer', message: 'it changed the protocol' })
  }

  failed(error: UpstreamError): void {
    // Where no address is there, or not the right one, that is known at once.
    if (this.#isStarting) return void soon(() => this.failed(error))
    const isLost = this.#isPinned && isReplicaGone(error)
    this.#finish({
      code: isLost ? 'session_lost' : error.unsent ? 'unavailable' : 'broken',
      message: error.message,
    })
  }

  responded({ status, headers, body }: UpstreamResponse): void {
    const isTaken = status >= 200 && status <= 299
    // Read to its end, so that the connection can be used again.
    collect(body, MAX_ANSWER_BYTES, (said) => {
      if (!isTaken) this.#finish(httpFailure({ method: 'POST', status, headers, body: said, hasSession: true }))
    })
    if (isTaken) this.#finish(null)
  }

  #finish(failure: TargetFailure | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#done(failure)
  }
}

/** What goes on of the client's headers. */
export function headersFor({ headers, version }: Caller): HeaderBlock {
  const own = headers.clone()
  if (version !== '') own.set('mcp-protocol-version', version)
  return own
}

interface Request {
  method: string
  target: string
  headers: HeaderBlock
  body: ReturnType<typeof sourceOf>
}

type Sending = Pick<SentAttempt, 'handler' | 'isWanted' | 'refused' | 'sent'>

/** Sends a request with the policies of the target. */
export function sendRequest(services: SseServices, caller: Caller, request: Request, sending: Sending): void {
  const { connection, authority, bug } = services
  const { rx, context } = caller
  const outgoing = { ...request, authority, upgrade: '', teTrailers: false }
  sendAttempt(connection, { ...sending, outgoing, rx, context, bug })
}

const MAX_ANSWER_BYTES = 64 * 1024

/**
 * Where messages go, as the first event of a stream says it: path and query; null when it is no place on the target
 * itself. A target must not send the gateway elsewhere.
 */
export function readEndpoint(data: string, { authority, path }: { authority: string; path: string }): string | null {
  const text = data.trim()
  const base = `http://${authority}${path}`
  if (text === '' || text.length > MAX_PLACE_LENGTH || !URL.canParse(text, base)) return null
  const own = new URL(base)
  const url = new URL(text, base)
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null
  // Behind TLS the port may be left out on either side.
  const isSamePort = url.port === own.port || url.port === '' || own.port === ''
  return url.hostname === own.hostname && isSamePort ? url.pathname + url.search : null
}

const MAX_PLACE_LENGTH = 8_192
