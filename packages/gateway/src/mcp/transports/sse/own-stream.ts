import { collect, emptySource, type HeaderBlock, type Sink, type Source } from '@portico/http'
import { type SseEvent, SseParser } from '@portico/http/sse'
import type { UpstreamCall, UpstreamError, UpstreamHandler, UpstreamResponse } from '@portico/http/client'
import { Conversation, type Waiter } from '../../conversation.ts'
import { BadMessage, readMessage, type RpcMessage } from '../../protocol.ts'
import { Outbox } from '../../outbox.ts'
import { Flow } from '../../flow.ts'
import { httpFailure } from '../streamable-http/http-failure.ts'
import { soon } from '../local-server.ts'
import { printAtReplica, watchingReplica } from '../replica.ts'
import { connectionFailure, stopped } from '../failures.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure } from '../../transport.ts'
import { headersFor, readEndpoint, sendRequest, type SseServices } from './post.ts'
import type { HostedStream } from '../../remote/session-stream.ts'

/** The single stream with all messages of the target to a session, in this worker. */
export class OwnStream implements HostedStream, UpstreamHandler, Sink {
  source: Source | null = null
  readonly #services: SseServices
  readonly #closed: () => void
  readonly #conversation = new Conversation()
  readonly #events: SseParser
  readonly #flow = new Flow({
    maxBytes: MAX_HELD_BYTES,
    full: () => (this.#isFull = true),
    drained: () => {
      this.#isFull = false
      this.source?.resume()
    },
  })
  readonly #opening: NodeJS.Timeout
  readonly #idling: NodeJS.Timeout
  #call: UpstreamCall | null = null
  #endpoint: string | null = null
  /** The replica that opened the stream; empty without replicas. */
  #replica = ''
  #whenOpen: ((failure: TargetFailure | null) => void)[] = []
  #usedAt = performance.now()
  #isStarting = false
  #isFull = false
  #isOver = false

  /** `closed` is called when the stream ends, for any reason. */
  constructor(services: SseServices, closed: () => void) {
    this.#services = services
    this.#events = new SseParser(services.maxMessageBytes)
    this.#closed = closed
    const { idleTimeoutMs, openTimeoutMs } = services
    this.#opening = setTimeout(
      () => this.#close({ code: 'unavailable', cause: 'timeout', message: 'it did not send its endpoint in time' }),
      openTimeoutMs,
    )
    this.#idling = setInterval(() => this.#endIfIdle(), Math.min(MAX_SWEEP_MS, idleTimeoutMs / 4))
    this.#opening.unref()
    this.#idling.unref()
  }

  open(caller: Caller): void {
    const headers = headersFor(caller)
    headers.set('accept', 'text/event-stream')
    const request = { method: 'GET', target: this.#services.path, headers, body: emptySource }
    const watched = this.#services.hasReplicas ? watchingReplica(caller, (name) => (this.#replica = name)) : caller
    this.#isStarting = true
    sendRequest(this.#services, watched, request, {
      handler: this,
      isWanted: () => !this.#isOver,
      refused: (why) => this.#close(stopped(why)),
      sent: (call) => (this.#call = call),
    })
    this.#isStarting = false
  }

  attend(request: RpcMessage | null, sink: AnswerSink, ready: (endpoint: string) => void): LinkCall {
    const outbox = new Outbox(sink, () => {})
    outbox.flow = this.#flow
    this.join(request, outbox, ready)
    return {
      cancel: () => {
        outbox.drop()
        this.leave(outbox)
      },
      resume: () => outbox.resume(),
    }
  }

  join(request: RpcMessage | null, waiter: Waiter, ready: (endpoint: string) => void): void {
    this.#usedAt = performance.now()
    if (request === null) this.#conversation.listen(waiter)
    else if (!this.#conversation.expect(request, waiter)) return waiter.failed(TAKEN)
    this.#whenReady((failure) => {
      // After a failure, the waiter has been called when the stream ended.
      if (failure === null && this.#endpoint !== null) ready(this.#endpoint)
    })
  }

  leave(waiter: Waiter): void {
    this.#usedAt = performance.now()
    this.#conversation.forget(waiter)
  }

  where(done: (endpoint: string | null) => void): void {
    this.#usedAt = performance.now()
    this.#whenReady(() => done(this.#endpoint))
  }

  get flow(): Flow {
    return this.#flow
  }

  stop(): void {
    this.#close({ code: 'broken', message: 'the session has ended' })
  }

  // The response of the target.

  informed(): void {}

  upgraded(_status: number, _headers: HeaderBlock, raw: { socket: { destroy(): void } }): void {
    raw.socket.destroy()
    this.#close({ code: 'bad_answer', message: 'it switched the protocol' })
  }

  failed(error: UpstreamError): void {
    // A missing address fails synchronously, but the caller expects failures after `open` has returned.
    if (this.#isStarting) return void soon(() => this.failed(error))
    this.#close(connectionFailure(error))
  }

  responded({ status, headers, body }: UpstreamResponse): void {
    if (this.#isOver) return body.cancel(NOT_NEEDED)
    const type = headers.get('content-type') ?? ''
    if (status === 200 && /^text\/event-stream\s*(;|$)/i.test(type)) return body.pipe(this)
    if (status >= 200 && status <= 299) {
      body.cancel(NOT_NEEDED)
      return this.#close({ code: 'bad_answer', message: 'it answered with something other than an event stream' })
    }
    collect(body, MAX_ERROR_BYTES, (said) => {
      const failure = httpFailure({ method: 'GET', status, headers, body: said, hasSession: false })
      // A target of this transport must have the stream: without it there is no session.
      this.#close(failure.code === 'unsupported' ? { ...failure, code: 'refused' } : failure)
    })
  }

  write(chunk: Buffer): void {
    for (const event of this.#events.push(chunk)) this.#take(event)
    if (!this.#events.isOverflown) return
    this.#close({
      code: 'bad_answer',
      message: `one of its events is larger than ${this.#services.maxMessageBytes} bytes`,
    })
  }

  flush(): boolean {
    return !this.#isFull
  }

  end(): void {
    for (const event of this.#events.end()) this.#take(event)
    this.#close({ code: 'broken', message: 'its stream ended' })
  }

  abort(cause: Error): void {
    this.#close({ code: 'broken', message: cause.message })
  }

  #take({ event, data }: SseEvent): void {
    if (this.#isOver) return
    if (event === 'endpoint') return this.#takeEndpoint(data)
    // Events of other types are not MCP messages.
    if (event !== '' && event !== 'message') return
    const message = readMessage(Buffer.from(data))
    if (!(message instanceof BadMessage)) return this.#conversation.take(message)
    this.#close({ code: 'bad_answer', message: `it sent an invalid message: ${message.message}` })
  }

  #takeEndpoint(data: string): void {
    // Only the first endpoint counts: it must not change during a session.
    if (this.#endpoint !== null) return
    const endpoint = readEndpoint(data, this.#services)
    if (endpoint === null) {
      return this.#close({ code: 'bad_answer', message: 'it sent an endpoint that is not its own' })
    }
    this.#endpoint = this.#replica === '' ? endpoint : printAtReplica({ endpoint: this.#replica, text: endpoint })
    clearTimeout(this.#opening)
    this.#tellOpen(null)
  }

  #whenReady(done: (failure: TargetFailure | null) => void): void {
    if (this.#endpoint !== null) done(null)
    else this.#whenOpen.push(done)
  }

  #tellOpen(failure: TargetFailure | null): void {
    const waiting = this.#whenOpen
    this.#whenOpen = []
    for (const done of waiting) done(failure)
  }

  #endIfIdle(): void {
    if (!this.#conversation.isQuiet || performance.now() - this.#usedAt < this.#services.idleTimeoutMs) return
    this.#close({ code: 'broken', message: 'the session was idle' })
  }

  #close(failure: TargetFailure): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#opening)
    clearInterval(this.#idling)
    this.#closed()
    this.#call?.cancel(NOT_NEEDED)
    this.#conversation.close(failure)
    this.#tellOpen(failure)
  }
}

const TAKEN: TargetFailure = { code: 'unavailable', message: 'another request with the same id is running' }
const MAX_SWEEP_MS = 15_000
const MAX_HELD_BYTES = 1024 * 1024
const MAX_ERROR_BYTES = 64 * 1024
const NOT_NEEDED = new Error('the stream is no longer needed')
