import { Deadline, type Deadlines, HeaderBlock, type Source, sourceOf } from '@portico/http'
import type { UpstreamHandler } from '@portico/http/client'
import type { RpcMessage } from '../protocol.ts'
import type { AnswerPort } from '../engine/answer-port.ts'
import { EventBody, eventRecord, KEEP_ALIVE } from './event-body.ts'

interface AnswerServices {
  handler: UpstreamHandler
  deadlines: Deadlines
  /** The interval of SSE comments on an idle stream, in milliseconds; 0 disables them. */
  keepAliveMs: number
  /** Called when the client can take more data. */
  resumed: () => void
  /** Called when the client has left. */
  cancelled: (cause: Error) => void
}

/** The HTTP response to one request of a client: JSON for a single message, SSE for several. */
export class ClientAnswer implements AnswerPort {
  /** Sent as `Mcp-Session-Id` when the request begins a session; otherwise empty. */
  sessionId = ''
  readonly isElsewhere = false
  readonly #services: AnswerServices
  readonly #quiet: Deadline | null
  #events: EventBody | null = null
  #prefersEvents = false
  #isOver = false

  constructor(services: AnswerServices) {
    this.#services = services
    const { keepAliveMs, deadlines } = services
    this.#quiet = keepAliveMs === 0 ? null : new Deadline(() => this.#keepAlive())
    if (this.#quiet !== null) deadlines.set(this.#quiet, keepAliveMs)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether the response head was sent. */
  get hasBegun(): boolean {
    return this.#events !== null || this.#isOver
  }

  /** Sends the response head before there is a message. */
  open(): void {
    if (this.#events === null && !this.#isOver) this.#stream().open()
  }

  preferEvents(isPreferred: boolean): void {
    this.#prefersEvents = isPreferred
  }

  /** Sends a message before the response; false means to wait for `resumed`. */
  say(message: RpcMessage, eventId: string): boolean {
    if (this.#isOver) return true
    return this.#stream().push(eventRecord(message.bytes.toString('utf8'), eventId))
  }

  mark(eventId: string, retryMs: number | null): void {
    if (!this.#isOver) this.#stream().push(eventRecord('', eventId, retryMs))
  }

  /** Sends the JSON-RPC response and ends the HTTP response. */
  respond(message: RpcMessage, eventId: string, status = 200): void {
    if (this.#isOver) return
    const isWhole = this.#events === null && eventId === '' && (!this.#prefersEvents || status !== 200)
    if (isWhole) return this.whole(status, JSON_TYPE, message.bytes)
    this.#stream().push(eventRecord(message.bytes.toString('utf8'), eventId))
    this.end()
  }

  raw(body: Source): void {
    if (this.#isOver) return body.cancel(NOT_NEEDED)
    this.#finish()
    const headers = this.#headers()
    headers.set('content-type', JSON_TYPE)
    this.#services.handler.responded({ status: 200, headers, body })
  }

  /** Sends a complete HTTP response. */
  whole(status: number, type: string, body: Buffer, more: HeaderBlock | null = null): void {
    if (this.#isOver) return
    // The head of a stream was sent already.
    if (this.#events !== null) return this.end()
    this.#finish()
    const headers = this.#headers()
    more?.forEach((name, value) => headers.add(name, value))
    if (type !== '') headers.set('content-type', type)
    this.#services.handler.responded({ status, headers, body: sourceOf(body) })
  }

  /** Ends the stream. A client that still waits for its response can resume from the last event id. */
  end(): void {
    if (this.#isOver) return
    const events = this.#stream()
    this.#finish()
    events.end()
  }

  /** Discards later messages, because the client has left. */
  drop(): void {
    this.#finish()
  }

  #stream(): EventBody {
    if (this.#events !== null) return this.#events
    const { handler, resumed, cancelled } = this.#services
    this.#events = new EventBody({
      resumed,
      cancelled: (cause) => {
        this.#finish()
        cancelled(cause)
      },
    })
    const headers = this.#headers()
    headers.set('content-type', 'text/event-stream')
    headers.set('cache-control', 'no-cache, no-transform')
    // Proxies that buffer responses would delay events.
    headers.set('x-accel-buffering', 'no')
    handler.responded({ status: 200, headers, body: this.#events })
    return this.#events
  }

  #headers(): HeaderBlock {
    const headers = new HeaderBlock()
    if (this.sessionId !== '') headers.set('mcp-session-id', this.sessionId)
    return headers
  }

  #keepAlive(): void {
    if (this.#isOver) return
    this.#stream().push(KEEP_ALIVE)
    this.#services.deadlines.set(this.#quiet!, this.#services.keepAliveMs)
  }

  #finish(): void {
    this.#isOver = true
    if (this.#quiet !== null) this.#services.deadlines.clear(this.#quiet)
  }
}

const JSON_TYPE = 'application/json'
const NOT_NEEDED = new Error('the rest of the body is not needed')
