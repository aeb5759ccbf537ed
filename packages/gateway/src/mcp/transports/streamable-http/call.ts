import { collect, type HeaderBlock, type Sink, type Source } from '@portico/http'
import { type SseEvent, SseParser } from '@portico/http/sse'
import type { CompiledBackend } from '../../../pipeline/compiled/compiled.ts'
import { observeStart } from '../../../pipeline/body/buffered-body.ts'
import { sendAttempt } from '../../../pipeline/call/attempt.ts'
import { type UpstreamCall, UpstreamError, type UpstreamHandler, type UpstreamResponse } from '@portico/http/client'
import { isObject } from '@portico/http/json'
import { BadMessage, readMessage, type RpcId, type RpcMessage } from '../../protocol.ts'
import { soon } from '../local-server.ts'
import { isReplicaGone } from '../replica.ts'
import { connectionFailure, stopped } from '../failures.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure } from '../../transport.ts'
import { httpFailure } from './http-failure.ts'

export interface StreamableServices {
  connection: CompiledBackend
  /** Path and query of the endpoint. */
  path: string
  /** The value of the `Host` header. */
  authority: string
  bug: (error: unknown) => void
  /** The longest message that is parsed. */
  maxMessageBytes: number
  /** Whether the target has several replicas, each of which knows its own sessions only. */
  hasReplicas: boolean
}

interface CallRequest {
  method: string
  headers: HeaderBlock
  body: Source
}

/** One HTTP request to a target, and the messages in its response. */
export class StreamableCall implements LinkCall, UpstreamHandler, Sink {
  source: Source | null = null
  /** The id that the JSON-RPC response must have; undefined when no response is expected. */
  awaits: RpcId | null | undefined = undefined
  /** Called with the session id in the response to `initialize`. */
  began: ((session: string) => void) | null = null
  readonly #request: CallRequest
  readonly #caller: Caller
  readonly #answer: AnswerSink
  readonly #services: StreamableServices
  readonly #hasSession: boolean
  /** Null while no SSE events have arrived; most responses are JSON. */
  #events: SseParser | null = null
  #call: UpstreamCall | null = null
  #canTakeMore = true
  #isStarting = false
  #isOver = false

  constructor(
    request: CallRequest,
    caller: Caller,
    answer: AnswerSink,
    services: StreamableServices,
    hasSession: boolean,
  ) {
    this.#request = request
    this.#caller = caller
    this.#answer = answer
    this.#services = services
    this.#hasSession = hasSession
  }

  start(): this {
    const { rx, context } = this.#caller
    const { connection, path, authority, bug } = this.#services
    const outgoing = { ...this.#request, target: path, authority, upgrade: '', teTrailers: false }
    this.#isStarting = true
    sendAttempt(connection, {
      outgoing,
      rx,
      context,
      bug,
      handler: this,
      isWanted: () => !this.#isOver,
      refused: (why) => this.#end(stopped(why)),
      sent: (call) => (this.#call = call),
    })
    this.#isStarting = false
    return this
  }

  cancel(cause: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#call?.cancel(cause)
  }

  resume(): void {
    this.#canTakeMore = true
    this.source?.resume()
  }

  // The response of the target.

  informed(): void {}

  upgraded(_status: number, _headers: HeaderBlock, raw: { socket: { destroy(): void } }): void {
    raw.socket.destroy()
    this.#fail('bad_answer', 'it switched the protocol')
  }

  failed(error: UpstreamError): void {
    // A missing address fails synchronously, but the caller expects failures after `start` has returned.
    if (this.#isStarting) return void soon(() => this.failed(error))
    const isLost = this.#caller.context.belongsTo?.isOnly === true && isReplicaGone(error)
    this.#end(connectionFailure(error, isLost))
  }

  responded(response: UpstreamResponse): void {
    if (this.#isOver) return response.body.cancel(NOT_NEEDED)
    const { status, headers, body } = response
    if (status < 200 || status > 299) return this.#refused(response)
    if (this.began !== null) this.began(headers.get('mcp-session-id') ?? '')
    const type = mediaType(headers.get('content-type'))
    if (type === 'text/event-stream') this.#stream(body)
    else if (this.#request.method === 'GET') this.#noStream(response, type)
    else if (this.awaits === undefined) this.#drop(body)
    else if (type === '') this.#readJson(body, status)
    else if (type !== 'application/json') this.#notJson(response, type)
    else if (this.#answer.raw !== undefined) this.#readStart(response)
    else this.#readJson(body)
  }

  #stream(body: Source): void {
    this.#answer.opened?.()
    body.pipe(this)
  }

  /** Reads a short response completely before the client gets any of it; a long one is forwarded unread. */
  #readStart({ headers, body }: UpstreamResponse): void {
    observeStart(body, MOST_READ, {
      started: ({ whole }, rest, cause) => {
        if (this.#isOver) return rest.cancel(NOT_NEEDED)
        if (cause !== null) this.#fail('broken', `the answer broke off: ${cause.message}`)
        else if (whole !== null) this.#readWhole(whole, 200)
        else this.#handOver(headers, rest)
      },
    })
  }

  /** Forwards the body unread. */
  #handOver(headers: HeaderBlock, body: Source): void {
    if (this.#answer.raw === undefined) return this.#readJson(body)
    this.#isOver = true
    this.#answer.raw(headers, body)
  }

  #drop(body: Source): void {
    body.cancel(NOT_NEEDED)
    this.#close()
  }

  #noStream({ body }: UpstreamResponse, type: string): void {
    if (this.#isOver) return
    body.cancel(NOT_NEEDED)
    this.#isOver = true
    this.#answer.failed({ code: 'unsupported', message: `it answered with \`${type}\` in place of a stream` })
  }

  #notJson({ body }: UpstreamResponse, type: string): void {
    body.cancel(NOT_NEEDED)
    this.#fail('bad_answer', `it answered a request with \`${type}\``)
  }

  /** Reads a JSON body, or one without a content type; `status` is not 0 when the body may be empty by mistake. */
  #readJson(body: Source, status = 0): void {
    const { maxMessageBytes } = this.#services
    collect(body, maxMessageBytes, (bytes) => {
      if (this.#isOver) return
      if (bytes === null)
        return this.#fail('broken', `the answer broke off, or is larger than ${maxMessageBytes} bytes`)
      this.#readWhole(bytes, status)
    })
  }

  #readWhole(bytes: Buffer, status: number): void {
    if (bytes.length === 0 && status !== 0) {
      return this.#fail('bad_answer', `it answered a request with HTTP ${status} without a body`)
    }
    this.#say(bytes, '')
    this.#close()
  }

  #refused({ status, headers, body }: UpstreamResponse): void {
    collect(body, MAX_ERROR_BYTES, (bytes) => {
      if (this.#isOver) return
      this.#isOver = true
      const { method } = this.#request
      const failure = httpFailure({ method, status, headers, body: bytes, hasSession: this.#hasSession })
      this.#answer.failed({ ...failure, ...this.#errorIn(bytes) })
    })
  }

  /** Returns the JSON-RPC error in an HTTP error response, as newer revisions send it. */
  #errorIn(bytes: Buffer | null): { error?: RpcMessage } {
    const message = bytes === null || this.awaits === undefined ? null : readMessage(bytes)
    if (message === null || message instanceof BadMessage || message.id !== this.awaits) return {}
    return isObject(message.value.error) ? { error: message } : {}
  }

  // The SSE response, as a sink.

  write(chunk: Buffer): void {
    this.#events ??= new SseParser(this.#services.maxMessageBytes)
    for (const event of this.#events.push(chunk)) this.#take(event)
    if (this.#events.isOverflown)
      this.#stop('bad_answer', `one of its events is larger than ${this.#services.maxMessageBytes} bytes`)
  }

  flush(): boolean {
    return this.#canTakeMore
  }

  end(): void {
    for (const event of this.#events?.end() ?? []) this.#take(event)
    this.#close()
  }

  abort(cause: Error): void {
    this.#fail('broken', cause.message)
  }

  #take({ event, data, id, retry }: SseEvent): void {
    if (this.#isOver) return
    if (data === '') return this.#answer.mark?.(id, retry)
    // Events of other types are not MCP messages.
    if (event === '' || event === 'message') this.#say(Buffer.from(data), id)
  }

  #say(bytes: Buffer, eventId: string): void {
    const message = readMessage(bytes)
    if (message instanceof BadMessage) return this.#stop('bad_answer', `it sent an invalid message: ${message.message}`)
    if (!this.#answer.message(message, eventId)) this.#canTakeMore = false
  }

  #stop(code: 'bad_answer', message: string): void {
    if (this.#isOver) return
    this.#call?.cancel(NOT_NEEDED)
    this.#fail(code, message)
  }

  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#answer.closed()
  }

  #fail(code: 'broken' | 'bad_answer', message: string): void {
    this.#end({ code, message })
  }

  #end(failure: TargetFailure): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#answer.failed(failure)
  }
}

function mediaType(value: string | null): string {
  return value === null ? '' : value.replace(/;.*/s, '').trim().toLowerCase()
}

const MAX_ERROR_BYTES = 64 * 1024
/** Larger responses are forwarded unread when no code has to read them. */
const MOST_READ = 64 * 1024
const NOT_NEEDED = new Error('the rest of the body is not needed')
