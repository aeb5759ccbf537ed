import type { HeadProblem } from '../../http1/head.ts'
import * as frames from '../../http2/frames.ts'
import { StreamOutput } from '../../http2/output.ts'
import { type FrameHost, ReceivedFrames } from '../../http2/received-frames.ts'
import { Fields, HEAD_TOO_LARGE, MALFORMED, RequestHead } from './request-head.ts'
import { refusalBlock } from './response-head.ts'
import type { ExchangeHost } from './exchange-contracts.ts'
import { Http2Exchange } from './server-exchange.ts'
import type { StreamTable } from '../../http2/stream-table.ts'
import { TrailerFields } from '../../http2/trailer-fields.ts'

/** The effects of a client's frames on its connection. */
export interface RequestFramesHost extends ExchangeHost<Http2Exchange>, FrameHost<Http2Exchange> {
  /** Called when a request has arrived. */
  opened(exchange: Http2Exchange): void
  /** Called when a request was rejected with a response. */
  refused(status: number, code: string): void
  /** Called when a request was reset because its head is malformed. */
  resetUnread(code: string): void
  /** Called when the client made a stream useless, such as by a reset. */
  countReset(): void
  /** Called when the client will open no more streams. */
  peerLeaves(): void
}

interface RequestLimits {
  windowSize: number
  largestWindowSize: number
  connectionWindowSize: number
  maxHeaderSize: number
  maxStreams: number
}

/** Processes the frames of a client: its requests. */
export class RequestFrames extends ReceivedFrames<Http2Exchange, RequestFramesHost> {
  protected readonly largestPush = 1
  readonly #limits: RequestLimits

  constructor(host: RequestFramesHost, streams: StreamTable<Http2Exchange>, limits: RequestLimits) {
    super(host, streams, { ...limits, maxFields: MAX_FIELDS })
    this.#limits = limits
  }

  protected takeLate(stream: number, ends: boolean, isSmall: boolean): void {
    const code = this.streams.late(stream, ends)
    if (code !== frames.NO_ERROR) this.host.fail(code)
    else if (isSmall) this.countIdle()
  }

  protected takeBlock(stream: number, ends: boolean): void {
    const exchange = this.streams.open.get(stream)
    if (exchange !== undefined) return this.#takeTrailers(exchange, ends)
    if (this.streams.isNew(stream)) return this.#open(stream, ends)
    if (this.decode(NOBODY)) this.takeLate(stream, ends, true)
  }

  #open(stream: number, ends: boolean): void {
    const { streams } = this
    streams.last = stream
    const fields = new Fields()
    if (!this.decode(fields)) return
    if (streams.open.size >= this.#limits.maxStreams) {
      this.#refuse(stream, ends, frames.REFUSED_STREAM)
      return this.countIdle()
    }
    this.guard.useful()
    const head = this.isTooLarge ? HEAD_TOO_LARGE : fields.toHead(ends)
    if (this.hasTooManyFields || head === MALFORMED) {
      const isLong = this.hasTooManyFields
      this.#refuse(stream, ends, isLong ? frames.ENHANCE_YOUR_CALM : frames.PROTOCOL_ERROR)
      this.host.resetUnread(isLong ? 'too_many_headers' : 'malformed_head')
      return this.host.countReset()
    }
    if (!(head instanceof RequestHead)) return this.#answerRefused(stream, ends, fields.method, head)
    const exchange = new Http2Exchange(this.host, stream, head, this.#limits)
    streams.open.set(stream, exchange)
    this.host.opened(exchange)
  }

  #takeTrailers(exchange: Http2Exchange, ends: boolean): void {
    const fields = new TrailerFields()
    if (!this.decode(fields)) return
    if (exchange.inputEnded) this.host.broke(exchange, frames.STREAM_CLOSED)
    else if (!ends || fields.problem !== null) this.host.broke(exchange, frames.PROTOCOL_ERROR)
    else if (this.isTooLarge || this.hasTooManyFields) this.host.broke(exchange, frames.ENHANCE_YOUR_CALM)
    else exchange.takeTrailers(fields.headers)
  }

  /** Rejects a new stream with a reset. */
  #refuse(stream: number, ends: boolean, code: number): void {
    if (!ends) this.streams.cutOff(stream)
    this.output.frames(frames.resetFrame(stream, code))
  }

  #answerRefused(stream: number, ends: boolean, method: string, { status, code }: HeadProblem): void {
    this.host.refused(status, code)
    const body = Buffer.from(code.replaceAll('_', ' '))
    const answer = new StreamOutput(stream, NOBODY, this.output.firstWindow)
    // The text is optional, so it is sent only when it fits into the window.
    const bodyless = method === 'HEAD' || !this.output.fits(answer, body.length)
    this.output.headers(answer, refusalBlock(status, body.length), bodyless)
    if (!bodyless) this.output.end(answer, body, '')
    if (!ends) this.#refuse(stream, ends, frames.NO_ERROR)
  }

  protected takeReset(exchange: Http2Exchange): void {
    this.host.ended(exchange)
  }

  /** The client opens no more streams, and waits for its open streams. */
  protected takeGoaway(): void {
    this.host.peerLeaves()
  }

  protected takeSettings(): void {}
}

function ignore(): void {}

const NOBODY = { field: ignore, outputDrained: ignore, outputEnded: ignore }
const MAX_FIELDS = 256
