import { emptySource, type Sink, type Source } from '../../body/body.ts'
import type { ConnectionInfo, Exchange, ExchangeObserver, RawConnection } from '../../exchange/exchange.ts'
import { contained, InternalFault, reportFault } from '../../runtime/faults.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import { isGrpc, LARGE_CHUNK } from '../../http2/fields.ts'
import { StreamSocket } from '../../exchange/stream-socket.ts'
import { ACCEPT_HEADER, acceptOf, KEY_HEADER } from '../../websocket/websocket-handshake.ts'
import { CONNECT_ERROR, INTERNAL_ERROR, NO_ERROR, PROTOCOL_ERROR } from '../../http2/frames.ts'
import { type FrameOutput, type OutputOwner, StreamOutput } from '../../http2/output.ts'
import { responseBlock } from './response-head.ts'
import type { RequestHead } from './request-head.ts'
import { ReceiveWindow } from '../../http2/receive-window.ts'
import { trailerBlock } from '../../http2/sent-fields.ts'
import { WaitingBody } from '../../http2/waiting-body.ts'

/** The connection of an exchange, as the exchange uses it. */
export interface ExchangeHost {
  readonly info: ConnectionInfo
  readonly output: FrameOutput
  /** In milliseconds. */
  now(): number
  /** Sends the gathered frames, now or at the end of the turn. */
  flush(): void
  /** Lets the client send this many more bytes. */
  grant(stream: number, bytes: number): void
  /** Called when both sides of the stream have ended. */
  ended(exchange: Http2Exchange): void
  /** Resets the stream. */
  reset(exchange: Http2Exchange, code: number, cause: Error): void
  /** Ends the connection, because its own code has thrown. */
  faulted(error: unknown): void
}

/** One stream of an HTTP/2 connection: the source of the request body and the sink of the response. */
export class Http2Exchange implements Exchange, Sink, Source, OutputOwner {
  readonly connection: ConnectionInfo
  readonly version = 'HTTP/2'
  readonly method: string
  readonly authority: string
  readonly target: string
  readonly headers: HeaderBlock
  readonly length: number
  readonly upgrade: string
  readonly teTrailers: boolean
  readonly claimsForwarding: boolean
  readonly hops: string
  observer: ExchangeObserver | null = null
  bytesIn = 0
  bytesOut = 0
  source: Source | null = null

  readonly output: StreamOutput
  /** Milliseconds on the clock of the connection. */
  readonly openedAt: number
  /** Whether the whole request has been read, or the rest is not needed. */
  requestDone: boolean
  /** Whether the whole response was written, or never will be. */
  responseDone = false
  /** Whether the client has ended its side of the stream. */
  inputEnded: boolean
  /** Whether the stream is closed: nothing is sent or received on it. */
  isClosed = false

  readonly #host: ExchangeHost
  readonly #window: ReceiveWindow
  #sink: Sink | null = null
  /** Why the rest of the request will not arrive. */
  #failure: Error | null = null
  /** Received body data that was not consumed yet, bounded by the window. */
  #waiting: WaitingBody | null = null
  #received = 0
  #trailers: HeaderBlock | null = null
  #mustContinue: boolean
  /** Whether the client asked for a tunnel: its data is not a body, and waits until the tunnel is open. */
  readonly #isTunnel: boolean
  /** Whether the tunnel is open: its owner then reports its bytes and its end. */
  #isTakenOver = false
  /** Bytes that passed through the tunnel, in both directions. */
  #tunnelled = 0
  /** Whether further request data is dropped. */
  #dropping = false
  #flushIsDue = false
  #unflushed = 0
  /** Whether the consumer of the request body is blocked. */
  #blocked = false
  #started = false
  /** Whether END_STREAM was sent with the head. */
  #bodyless = false
  /** A chunk that is held back until the next call, so that a small body and the end share one frame. */
  #held: Buffer | null = null
  /** The progress at the last call of `isStalled`. */
  #seenProgress = -1
  #stalledMs = 0

  constructor(host: ExchangeHost, id: number, head: RequestHead, limits: WindowLimits) {
    this.#host = host
    this.openedAt = host.now()
    this.connection = host.info
    this.output = new StreamOutput(id, this, host.output.firstWindow)
    this.#window = new ReceiveWindow(limits.windowSize, limits.largestWindowSize)
    this.method = head.method
    this.authority = head.authority
    this.target = head.target
    this.headers = head.headers
    this.length = head.length
    this.teTrailers = head.teTrailers
    this.claimsForwarding = head.claimsForwarding
    this.hops = head.hops
    this.upgrade = head.upgrade
    this.#isTunnel = head.isTunnel
    this.requestDone = head.length === 0
    this.inputEnded = head.endsWithHead
    this.#mustContinue = head.expectContinue
  }

  get body(): Source {
    return this.#isTunnel ? emptySource : this
  }

  // Frames of this stream.

  /** `padding` counts only for the window. Returns false when the client exceeds its window. */
  takeData(chunk: Buffer, padding: number, ends: boolean): boolean {
    if (!this.#window.take(chunk.length + padding)) return false
    this.#received += chunk.length
    if (!this.#isLengthRight(ends)) {
      this.#host.reset(this, PROTOCOL_ERROR, WRONG_LENGTH)
      return true
    }
    if (ends) this.inputEnded = true
    this.#giveBack(padding)
    try {
      if (chunk.length > 0) this.#take(chunk)
      if (ends) this.#endInput()
    } catch (error) {
      this.faulted(error)
    }
    return true
  }

  #isLengthRight(ends: boolean): boolean {
    if (this.length === -1) return true
    return ends ? this.#received === this.length : this.#received <= this.length
  }

  takeTrailers(trailers: HeaderBlock): void {
    this.inputEnded = true
    if (this.length !== -1 && this.#received !== this.length)
      return this.#host.reset(this, PROTOCOL_ERROR, WRONG_LENGTH)
    this.#trailers = trailers
    try {
      this.#endInput()
    } catch (error) {
      this.faulted(error)
    }
  }

  #take(chunk: Buffer): void {
    if (this.#dropping || this.requestDone) return this.#pass(chunk)
    if (this.#sink === null || this.#blocked) {
      this.#waiting ??= new WaitingBody()
      return this.#waiting.add(chunk)
    }
    this.#pass(chunk)
    if (chunk.length < LARGE_CHUNK || this.#unflushed >= MOST_UNFLUSHED) return this.flushRequest()
    if (this.#flushIsDue) return
    this.#flushIsDue = true
    setImmediate(flushDue, this)
  }

  #pass(chunk: Buffer): void {
    if (this.#isTakenOver) this.#tunnelled += chunk.length
    else this.bytesIn += chunk.length
    this.#unflushed += chunk.length
    this.#sink?.write(chunk)
    this.#giveBack(chunk.length)
  }

  /** Extends the client's window by these bytes, in batches. */
  #giveBack(bytes: number): void {
    if (this.inputEnded || this.isClosed) return
    const granted = this.#window.release(bytes)
    if (granted !== 0) this.#host.grant(this.output.id, granted)
  }

  /** Delivers the received part of the request. */
  flushRequest(): void {
    this.#flushIsDue = false
    this.#unflushed = 0
    if (this.#sink !== null && !this.#blocked && !this.#sink.flush()) this.#blocked = this.#sink !== null
  }

  #endInput(): void {
    if (this.#waiting === null && !this.#blocked && (this.#sink !== null || this.#dropping)) this.#endRequest()
    if (this.output.isOver && !this.isClosed) this.#host.ended(this)
  }

  #endRequest(): void {
    if (this.requestDone) return
    const sink = this.#sink
    this.requestDone = true
    this.#sink = null
    sink?.end(this.#trailers)
  }

  // Source: the request body.

  pipe(sink: Sink): void {
    if (this.#failure !== null) return sink.abort(this.#failure)
    if (this.requestDone) return sink.end(null)
    this.#sink = sink
    sink.source = this
    if (this.#mustContinue && !this.#started) this.inform(100, new HeaderBlock())
    this.#mustContinue = false
    this.#passWaiting()
  }

  resume(): void {
    if (!this.#blocked) return
    this.#blocked = false
    this.#passWaiting()
  }

  /** Delivers the waiting data, and the end if it has arrived. */
  #passWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting !== null) {
      for (const chunk of waiting.takeAll()) this.#pass(chunk)
      if (!this.inputEnded) this.flushRequest()
    }
    if (this.inputEnded && !this.isClosed) this.#endRequest()
    // Sends the granted windows to the client.
    this.#host.flush()
  }

  cancel(): void {
    this.#sink = null
    // Further data is dropped until the response is complete; then the stream is reset.
    this.#drop()
  }

  #drop(): void {
    this.#dropping = true
    this.#blocked = false
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting !== null) this.#giveBack(waiting.size)
  }

  /** Called when the stream is closed; returns true when its response was complete. */
  closed(cause: Error): boolean {
    this.isClosed = true
    if (this.#bodyless) this.end(null)
    const whole = this.responseDone
    this.fail(cause)
    return whole
  }

  /** Called when the client is gone, or the exchange was aborted. */
  fail(cause: Error): void {
    this.#abandonRequest(cause)
    if (this.responseDone) return
    this.responseDone = true
    this.#held = null
    const { source } = this
    this.source = null
    if (source !== null) contained('connection', () => source.cancel(cause))
    if (!this.#isTakenOver) this.observer?.gone(cause)
  }

  /**
   * Called when a callback of the exchange has thrown: the observer responds or resets, and nothing more of the request
   * is read.
   */
  faulted(error: unknown): void {
    if (this.observer?.faulted !== undefined) this.observer.faulted(error)
    else {
      reportFault(error, 'connection')
      this.reset(new InternalFault())
    }
    if (!this.requestDone) this.cancel()
  }

  #abandonRequest(cause: Error): void {
    if (this.requestDone) return
    const sink = this.#sink
    this.#sink = null
    this.#waiting = null
    this.requestDone = true
    this.#failure = cause
    if (sink !== null) contained('connection', () => sink.abort(cause))
  }

  // The response, and its sink.

  inform(status: number, headers: HeaderBlock): void {
    if (this.#started || this.isClosed) return
    this.#host.output.headers(this.output, responseBlock(status, headers, -1), false)
    this.#host.flush()
  }

  respond(status: number, headers: HeaderBlock, length: number): Sink {
    this.#started = true
    if (this.isClosed) return this
    const headOnly = this.method === 'HEAD' || status === 204 || status === 205 || status === 304
    this.#bodyless = headOnly || length === 0
    if (status === 204 || status === 205) headers.remove('content-length')
    // A policy that changed method or status may have left the length of another body.
    else if (!headOnly && Number(headers.get('content-length') ?? length) !== length) headers.remove('content-length')
    const announced = length >= 0 && !headOnly && !headers.has('content-length') ? length : -1
    // Status codes beyond the classes of RFC 9110 are sent as 502.
    const block = responseBlock(status > 599 ? 502 : status, headers, announced)
    this.#host.output.headers(this.output, block, this.#bodyless)
    // The response is complete, whenever its sink is ended.
    if (this.#bodyless) setImmediate(endBodyless, this)
    return this
  }

  write(chunk: Buffer): void {
    if (this.#bodyless || this.responseDone || chunk.length === 0) return
    if (this.#isTakenOver) this.#tunnelled += chunk.length
    else this.bytesOut += chunk.length
    const held = this.#held
    this.#held = chunk
    if (held === null || this.isClosed) return
    try {
      this.#host.output.data(this.output, held)
    } catch (error) {
      this.#host.faulted(error)
    }
  }

  flush(): boolean {
    if (this.responseDone || this.#bodyless || this.isClosed) return true
    const held = this.#held
    this.#held = null
    const { output } = this.#host
    try {
      const room = held === null ? output.hasRoom(this.output) : output.data(this.output, held)
      this.#host.flush()
      return room
    } catch (error) {
      this.#host.faulted(error)
      return true
    }
  }

  end(trailers: HeaderBlock | null): void {
    try {
      this.#end(trailers)
    } catch (error) {
      // The observer may already count the response as complete: only closing the connection reveals the failure.
      this.#host.faulted(error)
    }
  }

  #end(trailers: HeaderBlock | null): void {
    // The client disconnected a moment ago, and the exchange has already failed.
    if (this.responseDone || (this.isClosed && !this.#bodyless)) return
    const held = this.#held
    this.#held = null
    this.responseDone = true
    this.source = null
    if (!this.#isTakenOver) this.observer?.sent()
    if (!this.requestDone && !this.#isTakenOver) {
      this.#abandonRequest(ANSWERED)
      this.#drop()
    }
    if (this.isClosed) return
    if (this.#bodyless) this.outputEnded()
    else this.#host.output.end(this.output, held, trailerBlock(trailers))
    this.#host.flush()
  }

  outputDrained(): void {
    try {
      this.source?.resume()
    } catch (error) {
      this.faulted(error)
    }
  }

  outputEnded(): void {
    try {
      this.#endStream()
    } catch (error) {
      this.#host.faulted(error)
    }
  }

  #endStream(): void {
    // Tells the client to stop sending a request that was answered (RFC 9113 section 8.1).
    if (this.inputEnded) this.#host.ended(this)
    // A tunnel that is closed in one direction stays open in the other.
    else if (!this.#isTakenOver) this.#host.reset(this, NO_ERROR, ANSWERED)
  }

  abort(cause: Error): void {
    this.reset(cause)
  }

  takeOver(_status: number, headers: HeaderBlock): RawConnection | null {
    if (!this.#isTunnel || this.isClosed || !this.#isProved(headers)) return null
    this.#started = true
    this.#isTakenOver = true
    headers.remove(ACCEPT_HEADER)
    headers.remove('content-length')
    this.#host.output.headers(this.output, responseBlock(200, headers, -1), false)
    this.#host.flush()
    const socket = new StreamSocket({ input: this, output: this, reset: (cause) => this.#resetTunnel(cause) })
    return { socket, early: null }
  }

  /** Returns whether the backend accepted the WebSocket key, which the gateway created for the client. */
  #isProved(headers: HeaderBlock): boolean {
    const key = this.headers.get(KEY_HEADER)
    return this.upgrade !== 'websocket' || key === null || headers.get(ACCEPT_HEADER) === acceptOf(key)
  }

  #resetTunnel(cause: Error): void {
    if (this.isClosed) return
    const hasEnded = this.responseDone
    this.source = null
    this.fail(cause)
    if (!this.isClosed) this.#host.reset(this, hasEnded ? NO_ERROR : CONNECT_ERROR, cause)
  }

  reset(cause: Error): void {
    this.source = null
    this.fail(cause)
    if (!this.isClosed) this.#host.reset(this, INTERNAL_ERROR, cause)
  }

  /** Called periodically; returns true when the client has stalled this stream for too long. */
  isStalled(elapsedMs: number, limits: StallLimits): boolean {
    // A gRPC client may legitimately be silent for hours.
    const awaitsClient =
      !this.#isTunnel &&
      (this.#sink !== null || this.#dropping) &&
      !this.requestDone &&
      !this.#blocked &&
      !isGrpc(this.headers)
    const unsent = this.output.queued
    const progress = this.bytesIn + this.bytesOut + this.#tunnelled - unsent
    if (progress !== this.#seenProgress || (!awaitsClient && unsent === 0)) {
      this.#seenProgress = progress
      this.#stalledMs = 0
      return false
    }
    this.#stalledMs += elapsedMs
    return this.#stalledMs >= (awaitsClient ? limits.stallTimeoutMs : limits.idleTimeoutMs)
  }
}

interface WindowLimits {
  readonly windowSize: number
  readonly largestWindowSize: number
}

interface StallLimits {
  /** Milliseconds for a client that does not send. */
  stallTimeoutMs: number
  /** Milliseconds for a client that does not read. */
  idleTimeoutMs: number
}

function flushDue(exchange: Http2Exchange): void {
  try {
    exchange.flushRequest()
  } catch (error) {
    exchange.faulted(error)
  }
}

function endBodyless(exchange: Http2Exchange): void {
  try {
    exchange.end(null)
  } catch (error) {
    exchange.faulted(error)
  }
}

/** Bytes written to the consumer of a body before `flush` asks whether it can take more. */
const MOST_UNFLUSHED = 49_152
const WRONG_LENGTH = new Error('request body is not as long as announced')
const ANSWERED = new Error('answered before the request ended')
