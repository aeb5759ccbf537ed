import { collect, HeaderBlock, sourceOf } from '@portico/http'
import type { CompiledBackend } from '../../../pipeline/compiled/compiled.ts'
import type { Hub } from '../../hub.ts'
import { type SentAttempt, sendAttempt } from '../../../pipeline/call/attempt.ts'
import type { UpstreamCall, UpstreamError, UpstreamHandler, UpstreamResponse } from '@portico/http/client'
import { httpFailure } from '../streamable-http/http-failure.ts'
import { soon } from '../local-server.ts'
import { isReplicaGone, readAtReplica, toReplica } from '../replica.ts'
import { connectionFailure, stopped } from '../failures.ts'
import type { Caller, TargetFailure } from '../../transport.ts'

export interface SseServices {
  connection: CompiledBackend
  /** The path and query of the stream. */
  path: string
  /** The value of the `Host` header. */
  authority: string
  bug: (error: unknown) => void
  /** The longest message. */
  maxMessageBytes: number
  /** Whether the target has several replicas, each of which knows its own sessions only. */
  hasReplicas: boolean
  hub: Hub
  /** The key of the target and its config: another config must not reuse the streams. */
  key: string
  /** How long an unused stream stays open. */
  idleTimeoutMs: number
  /** The time until the target has to send its endpoint. */
  openTimeoutMs: number
}

/** Posts one message to the target; responses arrive on the stream. */
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
    this.#finish({ code: 'bad_answer', message: 'it switched the protocol' })
  }

  failed(error: UpstreamError): void {
    // A missing address fails synchronously, but the caller expects failures after `start` has returned.
    if (this.#isStarting) return void soon(() => this.failed(error))
    this.#finish(connectionFailure(error, this.#isPinned && isReplicaGone(error)))
  }

  responded({ status, headers, body }: UpstreamResponse): void {
    const isTaken = status >= 200 && status <= 299
    // The body is read to its end, so that the connection can be reused.
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

/** Returns the client's headers to forward, with the protocol revision. */
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
 * Parses the `endpoint` event of a stream; returns the path and query that messages are posted to. Null when the URL has
 * another host: a target must not redirect the gateway.
 */
export function readEndpoint(data: string, { authority, path }: { authority: string; path: string }): string | null {
  const text = data.trim()
  const base = `http://${authority}${path}`
  if (text === '' || text.length > MAX_ENDPOINT_LENGTH || !URL.canParse(text, base)) return null
  const own = new URL(base)
  const url = new URL(text, base)
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null
  // With TLS, either side may omit the port.
  const isSamePort = url.port === own.port || url.port === '' || own.port === ''
  return url.hostname === own.hostname && isSamePort ? url.pathname + url.search : null
}

const MAX_ENDPOINT_LENGTH = 8_192
