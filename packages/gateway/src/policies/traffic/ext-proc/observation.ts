import { Deadline, type HeaderBlock } from '@portico/http'
import type { OpenCall, RequestContext } from '../../../pipeline/context/request-context.ts'
import type { GrpcError, StreamHandler } from '@portico/http/grpc'
import type { ProcessingResponse } from '../../../protos/envoy/service/ext_proc/v3/external_processor.ts'
import { CopiedBody } from './copied-body.ts'
import {
  bodyMessage,
  hasContext,
  headersMessage,
  type RequestPart,
  trailersMessage,
} from '../../../pipeline/ext-proc/messages.ts'
import type { PolicySettings } from './policy-exchange.ts'
import type { ProcessingSettings, Stream } from '../../../pipeline/ext-proc/processing-settings.ts'
import type { Side } from '../../../pipeline/ext-proc/side.ts'

/**
 * Copies of one request and its response for a processor that only looks on. The request never waits: a processor that
 * fails, or takes so little that more than a buffer waits for it, gets no more copies.
 */
export class Observation implements OpenCall, StreamHandler<ProcessingResponse> {
  readonly #rx: RequestContext
  readonly #settings: ProcessingSettings & PolicySettings
  readonly #closing = new Deadline(() => this.#drop())
  #stream: Stream | null = null
  /** Messages from before the stream was open. */
  #early: RequestPart[] | null = []
  /** Bytes of bodies sent since the stream was last free. */
  #waitingBytes = 0
  #isConnecting = false
  #hasSpoken = false
  #isFinished = false
  #isOver = false

  constructor(rx: RequestContext, settings: ProcessingSettings & PolicySettings) {
    this.#rx = rx
    this.#settings = settings
  }

  /** Sends the head now, and the body and trailers as they pass. */
  copy(side: Side): void {
    const { sendsHeaders, body, sendsTrailers } = this.#settings.modes[side.name]
    const { name, hasBody, buffered } = side
    if (sendsHeaders) this.#say(headersMessage(side, !hasBody))
    const copiesBody = hasBody && body !== 'None'
    const copiesTrailers = hasBody && sendsTrailers
    if (!copiesBody && !copiesTrailers) return
    const write = (chunk: Buffer): void => {
      if (!copiesBody) return
      this.#waitingBytes += chunk.length
      this.#say(bodyMessage(name, Buffer.from(chunk), false))
    }
    const end = (trailers: HeaderBlock | null): void => {
      if (trailers !== null && trailers.size > 0 && copiesTrailers) this.#say(trailersMessage(name, trailers))
      else if (copiesBody) this.#say(bodyMessage(name, EMPTY, true))
    }
    if (buffered !== null && buffered.whole !== null) {
      write(buffered.whole)
      end(buffered.trailers)
    } else side.body = new CopiedBody(side.body, { write, end })
  }

  close(): void {
    if (this.#isOver || this.#isFinished) return
    this.#isFinished = true
    if (!this.#isConnecting) this.#isOver = true
    this.#finish()
  }

  // Events of the stream: responses of the processor are ignored.

  message(): void {}

  drained(): void {
    this.#waitingBytes = 0
  }

  ended(error: GrpcError | null): void {
    if (this.#isOver) return
    if (error !== null && !this.#isFinished) this.#fail(`${error.message} (code ${error.code})`)
    else this.#drop()
  }

  #say(said: RequestPart): void {
    if (this.#isOver || this.#isFinished) return
    if (this.#waitingBytes > this.#settings.maxBufferBytes) return this.#fail('the processor is too slow')
    if (this.#early !== null) this.#early.push(said)
    else this.#send(said)
    if (!this.#isConnecting) this.#connect()
  }

  #connect(): void {
    this.#isConnecting = true
    try {
      const stream = this.#settings.connect(this.#rx, this)
      if (!(stream instanceof Promise)) return this.#opened(stream)
      stream.then(
        (opened) => this.#opened(opened),
        (error: unknown) => this.#fail(String(error)),
      )
    } catch (error) {
      this.#fail(String(error))
    }
  }

  #opened(stream: Stream): void {
    if (this.#isOver) return stream.drop()
    this.#stream = stream
    const early = this.#early ?? []
    this.#early = null
    for (const said of early) this.#send(said)
    this.#finish()
  }

  #send(part: RequestPart): void {
    const settings = this.#settings
    const isFirst = !this.#hasSpoken
    this.#hasSpoken = true
    const context = hasContext(part, isFirst) ? settings.context(this.#rx, part.name) : null
    const isFree = this.#stream?.send({ part, context, modes: isFirst ? settings.modes : null, isObserved: true })
    if (isFree === true) this.#waitingBytes = 0
  }

  #finish(): void {
    if (!this.#isFinished || this.#stream === null) return
    this.#stream.finish()
    // The processor has this long to end the stream from its side.
    this.#settings.deadlines.set(this.#closing, this.#settings.timeoutMs)
  }

  #fail(cause: string): void {
    if (this.#isOver) return
    this.#settings.record('failed', 0, this.#rx.spans)
    this.#settings.log.warn('external processor gets no more copies of a request', { cause, route: this.#rx.routeName })
    this.#drop()
  }

  #drop(): void {
    this.#isOver = true
    this.#early = null
    this.#settings.deadlines.clear(this.#closing)
    this.#stream?.drop()
  }
}

const EMPTY = Buffer.alloc(0)
