import { constants, type ServerHttp2Stream, type ServerStreamResponseOptions } from 'node:http2'
import type { Sink, Source } from '../body.ts'
import type { ConnectionInfo, Exchange, ExchangeObserver, RawConnection } from '../exchange.ts'
import { HeaderBlock } from '../header-block.ts'
import { spentBuffers } from '../spent-buffers.ts'
import { appendFields, fieldsToObject, isEndToEnd, isGrpc, isTrailer, LARGE_CHUNK, takeFields } from './fields.ts'
import { letGo } from './let-go.ts'
import { isPadded, type RequestHead } from './request-head.ts'

/** What an exchange needs of the connection it runs on. */
export interface ExchangeHost {
  readonly info: ConnectionInfo
  /** The whole response has been handed over. */
  answered(): void
  /** The stream has closed. */
  ended(exchange: Http2Exchange): void
}

/** One stream of an HTTP/2 connection: the source of the request body and the sink of the response. */
export class Http2Exchange implements Exchange, Sink, Source {
  readonly connection: ConnectionInfo
  readonly version = 'HTTP/2'
  readonly method: string
  readonly authority: string
  readonly target: string
  readonly headers: HeaderBlock
  readonly length: number
  readonly upgrade = ''
  readonly teTrailers: boolean
  readonly claimsForwarding: boolean
  observer: ExchangeObserver | null = null
  bytesIn = 0
  bytesOut = 0
  source: Source | null = null

  /** The whole request has been read, or nobody wants the rest. */
  requestDone: boolean
  /** The whole response has been handed to the stream, or it never will be. */
  responseDone = false

  readonly #host: ExchangeHost
  readonly #stream: ServedStream
  /** The stream has listeners that know this exchange. */
  #listens = false
  #sink: Sink | null = null
  /** Why the rest of the request will not come. */
  #failure: Error | null = null
  #requestTrailers: HeaderBlock | null = null
  #responseTrailers: HeaderBlock | null = null
  #mustContinue: boolean
  #reading = false
  #flushIsDue = false
  /** The consumer of the request body asked for a break. */
  #blocked = false
  #started = false
  /** END_STREAM left with the head. */
  #bodyless = false
  /** A chunk that leaves with the next call, so that a small body and the end share one frame. */
  #held: Buffer | null = null
  #awaitsDrain = false
  /** What `isStalled` saw last. */
  #seenProgress = -1
  #stalledMs = 0

  constructor(host: ExchangeHost, stream: ServerHttp2Stream, head: RequestHead) {
    this.#host = host
    this.connection = host.info
    this.#stream = stream
    this.method = head.method
    this.authority = head.authority
    this.target = head.target
    this.headers = head.headers
    this.length = head.length
    this.teTrailers = head.teTrailers
    this.claimsForwarding = head.claimsForwarding
    this.requestDone = head.length === 0
    this.#mustContinue = head.expectContinue
    this.#stream[EXCHANGE] = this
    stream.on('close', streamClosed)
    if (!this.requestDone) this.#listening().on('trailers', (_fields, _flags, raw) => this.#takeTrailers(raw))
  }

  #listening(): ServerHttp2Stream {
    this.#listens = true
    return this.#stream
  }

  get body(): Source {
    return this
  }

  // Source: the request body.

  pipe(sink: Sink): void {
    if (this.#failure !== null) return sink.abort(this.#failure)
    if (this.requestDone) return sink.end(null)
    this.#sink = sink
    sink.source = this
    if (this.#mustContinue && !this.#started) this.inform(100, new HeaderBlock())
    this.#mustContinue = false
    this.#read()
  }

  resume(): void {
    if (!this.#blocked) return
    this.#blocked = false
    this.#stream.resume()
  }

  cancel(): void {
    this.#sink = null
    // What still arrives is dropped until the response is whole; then the stream is reset.
    if (!this.requestDone) this.#read()
    this.resume()
  }

  #read(): void {
    if (this.#reading) return
    this.#reading = true
    // An empty body may have ended before anyone asked for it.
    if (this.#stream.readableEnded) return this.#endRequest()
    this.#listening().on('data', (chunk: Buffer) => this.#takeData(chunk))
    this.#stream.on('end', () => this.#endRequest())
  }

  #takeData(chunk: Buffer): void {
    this.bytesIn += chunk.length
    const sink = this.#sink
    if (sink === null) return
    sink.write(chunk)
    spentBuffers.count(chunk.length)
    if (chunk.length < LARGE_CHUNK) return this.flushRequest()
    if (this.#flushIsDue) return
    this.#flushIsDue = true
    setImmediate(flushDue, this)
  }

  /** Hands on what has come of the request. */
  flushRequest(): void {
    this.#flushIsDue = false
    if (this.#sink === null || this.#blocked || this.#sink.flush()) return
    this.#blocked = true
    this.#stream.pause()
  }

  #takeTrailers(raw: readonly string[]): void {
    if (raw.some(isPadded)) {
      this.#stream.close(constants.NGHTTP2_PROTOCOL_ERROR)
      return this.fail(BAD_TRAILERS)
    }
    this.#requestTrailers = new HeaderBlock()
    takeFields(this.#requestTrailers, raw, isTrailer)
  }

  #endRequest(): void {
    // The runtime ends a stream that was reset without an error as if the body were whole; `close` will tell.
    if (this.#stream.aborted || this.requestDone) return
    const sink = this.#sink
    this.requestDone = true
    this.#sink = null
    sink?.end(this.#requestTrailers)
  }

  streamClosed(): void {
    this.#host.ended(this)
    if (this.#listens) letGo(this.#stream)
  }

  /** The stream is over; true when its response was whole. */
  closed(cause: Error): boolean {
    if (this.#bodyless) this.end(null)
    const whole = this.responseDone
    this.fail(cause)
    return whole
  }

  /** The client is gone, or the exchange was given up. */
  fail(cause: Error): void {
    this.#abandonRequest(cause)
    if (this.responseDone) return
    this.responseDone = true
    this.#held = null
    this.source?.cancel(cause)
    this.source = null
    this.observer?.gone(cause)
  }

  #abandonRequest(cause: Error): void {
    if (this.requestDone) return
    const sink = this.#sink
    this.#sink = null
    this.requestDone = true
    this.#failure = cause
    sink?.abort(cause)
  }

  // The response, and its sink.

  inform(status: number, headers: HeaderBlock): void {
    if (this.#started || this.#gone) return
    const fields = fieldsToObject(headers, isEndToEnd)
    fields[':status'] = String(status)
    this.#stream.additionalHeaders(fields)
  }

  respond(status: number, headers: HeaderBlock, length: number): Sink {
    this.#started = true
    if (this.#gone) return this
    const headOnly = this.method === 'HEAD' || status === 204 || status === 205 || status === 304
    this.#bodyless = headOnly || length === 0
    if (status === 204 || status === 205 || (length === -1 && !headOnly)) headers.remove('content-length')
    // A policy that changed method or status may have left the length of another body.
    else if (!headOnly && Number(headers.get('content-length') ?? length) !== length) headers.remove('content-length')
    // Codes beyond the classes of RFC 9110 count as 5xx, and the runtime does not send them.
    const raw = [':status', status > 599 ? '502' : String(status)]
    appendFields(raw, headers)
    if (length >= 0 && !headOnly && !headers.has('content-length')) raw.push('content-length', String(length))
    let options = WITH_BODY
    if (this.#bodyless) options = WITHOUT_BODY
    else if (length === -1 || isGrpc(headers)) {
      // Without this, a body of unknown length that is aborted would be ended first and look whole.
      options = WITH_TRAILERS
      this.#listening().on('wantTrailers', () => {
        this.#stream.sendTrailers(fieldsToObject(this.#responseTrailers, isTrailer))
      })
    }
    this.#stream.respond(raw, options)
    return this
  }

  write(chunk: Buffer): void {
    if (this.#bodyless || this.responseDone || chunk.length === 0) return
    this.bytesOut += chunk.length
    const held = this.#held
    this.#held = chunk
    if (held !== null && !this.#gone) this.#stream.write(held)
  }

  flush(): boolean {
    const stream = this.#stream
    if (this.responseDone || this.#bodyless || this.#gone) return true
    const held = this.#held
    this.#held = null
    if (held !== null) stream.write(held)
    if (!stream.writableNeedDrain) return true
    if (!this.#awaitsDrain) {
      this.#awaitsDrain = true
      this.#listening().on('drain', () => this.source?.resume())
    }
    return false
  }

  end(trailers: HeaderBlock | null): void {
    if (this.responseDone) return
    const stream = this.#stream
    if (!this.#bodyless) {
      // The client left a moment ago; `close` will tell.
      if (this.#gone) return
      this.#responseTrailers = trailers
      if (this.#held === null) stream.end()
      else stream.end(this.#held)
      this.#held = null
    }
    this.responseDone = true
    this.source = null
    this.observer?.sent()
    this.#host.answered()
    if (this.requestDone) return
    this.#abandonRequest(ANSWERED)
    this.#read()
    this.resume()
    stopUpload(stream)
  }

  abort(cause: Error): void {
    this.reset(cause)
  }

  takeOver(): RawConnection | null {
    return null
  }

  reset(cause: Error): void {
    this.source = null
    this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    this.fail(cause)
  }

  get #gone(): boolean {
    return this.#stream.destroyed || this.#stream.closed
  }

  /** True when the client has held this stream up for too long; called again and again. */
  isStalled(elapsedMs: number, limits: StallLimits): boolean {
    // A gRPC client may say nothing for hours and mean it.
    const awaitsClient = this.#reading && !this.requestDone && !this.#blocked && !isGrpc(this.headers)
    const unsent = this.#stream.writableLength
    const progress = this.bytesIn + this.bytesOut - unsent
    if (progress !== this.#seenProgress || (!awaitsClient && unsent === 0)) {
      this.#seenProgress = progress
      this.#stalledMs = 0
      return false
    }
    this.#stalledMs += elapsedMs
    return this.#stalledMs >= (awaitsClient ? limits.stallTimeoutMs : limits.idleTimeoutMs)
  }
}

/** One function for all streams, which find their exchange: most have no other listener, so that none must be taken away. */
interface ServedStream extends ServerHttp2Stream {
  [EXCHANGE]?: Http2Exchange | undefined
}

function streamClosed(this: ServedStream): void {
  const exchange = this[EXCHANGE]
  this[EXCHANGE] = undefined
  exchange?.streamClosed()
}

interface StallLimits {
  /** For a client that does not send. */
  stallTimeoutMs: number
  /** For a client that does not read. */
  idleTimeoutMs: number
}

/** Lets the client stop sending a request that was answered (RFC 9113 section 8.1). */
export function stopUpload(stream: ServerHttp2Stream): void {
  setImmediate(closeOnceSent, stream)
}

/** A reset overtakes whatever the runtime has not sent yet, so the end of the response has to be out. */
function closeOnceSent(stream: ServerHttp2Stream): void {
  if (stream.destroyed || stream.closed) return
  if (stream.state.localClose === 1) stream.close(constants.NGHTTP2_NO_ERROR)
  else setTimeout(closeOnceSent, RETRY_MS, stream).unref()
}

function flushDue(exchange: Http2Exchange): void {
  exchange.flushRequest()
}

const EXCHANGE = Symbol('exchange')
const RETRY_MS = 20
const BAD_TRAILERS = new Error('trailers are not well formed')
const ANSWERED = new Error('answered before the request ended')

/** A date is the origin's to send. */
type ResponseOptions = ServerStreamResponseOptions & { sendDate: boolean }
const WITH_BODY: ResponseOptions = { sendDate: false }
const WITHOUT_BODY: ResponseOptions = { sendDate: false, endStream: true }
const WITH_TRAILERS: ResponseOptions = { sendDate: false, waitForTrailers: true }
