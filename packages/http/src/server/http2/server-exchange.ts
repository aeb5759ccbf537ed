import { emptySource, type Sink, type Source } from '../../body/body.ts'
import type { ConnectionInfo, Exchange, ExchangeObserver, RawConnection } from '../../exchange/exchange.ts'
import { InternalFault, reportFault } from '../../runtime/faults.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import { isGrpc } from '../../http2/fields.ts'
import { StreamSocket } from '../../exchange/stream-socket.ts'
import { ACCEPT_HEADER, acceptOf, KEY_HEADER } from '../../websocket/websocket-handshake.ts'
import { CONNECT_ERROR, INTERNAL_ERROR, NO_ERROR, PROTOCOL_ERROR } from '../../http2/frames.ts'
import type { StreamOutput } from '../../http2/output.ts'
import type { RequestHead } from './request-head.ts'
import type { ExchangeHost, RequestOwner, ResponseOwner, StallLimits, WindowLimits } from './exchange-contracts.ts'
import { Http2RequestSource } from './request-source.ts'
import { Http2ResponseSink } from './response-sink.ts'

/** One stream of an HTTP/2 connection: a request and its response. */
export class Http2Exchange implements Exchange, RequestOwner, ResponseOwner {
  readonly connection: ConnectionInfo
  readonly version = 'HTTP/2'
  readonly method: string
  readonly authority: string
  readonly target: string
  readonly headers: HeaderBlock
  readonly upgrade: string
  readonly teTrailers: boolean
  readonly claimsForwarding: boolean
  readonly hops: string
  observer: ExchangeObserver | null = null

  readonly output: StreamOutput
  /** Milliseconds on the clock of the connection. */
  readonly openedAt: number
  /** Whether the stream is closed: nothing is sent or received on it. */
  isClosed = false

  readonly #host: ExchangeHost<Http2Exchange>
  /** Null when the request ended with its head. */
  readonly #request: Http2RequestSource | null
  readonly #response: Http2ResponseSink
  /** Whether the client asked for a tunnel: its data is not a body, and waits until the tunnel is open. */
  readonly #isTunnel: boolean
  /** Whether the tunnel is open: its owner then reports its bytes and its end. */
  #isTakenOver = false
  /** The progress at the last call of `isStalled`. */
  #seenProgress = -1
  #stalledMs = 0

  constructor(host: ExchangeHost<Http2Exchange>, id: number, head: RequestHead, limits: WindowLimits) {
    this.#host = host
    this.openedAt = host.now()
    this.connection = host.info
    this.method = head.method
    this.authority = head.authority
    this.target = head.target
    this.headers = head.headers
    this.teTrailers = head.teTrailers
    this.claimsForwarding = head.claimsForwarding
    this.hops = head.hops
    this.upgrade = head.upgrade
    this.#isTunnel = head.isTunnel
    this.#request = head.endsWithHead ? null : new Http2RequestSource(this, head, limits)
    this.#response = new Http2ResponseSink(this, host.output, id)
    this.output = this.#response.output
  }

  get body(): Source {
    return this.#request === null || this.#isTunnel ? emptySource : this.#request
  }

  get bytesIn(): number {
    return this.#request === null ? 0 : this.#request.bytes
  }

  get bytesOut(): number {
    return this.#response.bytes
  }

  // Frames of this stream.

  /** Whether the client has ended its side of the stream. */
  get inputEnded(): boolean {
    return this.#request === null || this.#request.hasEnded
  }

  /** `padding` counts only for the window. Returns false when the client exceeds its window. */
  takeData(chunk: Buffer, padding: number, ends: boolean): boolean {
    return this.#request === null || this.#request.takeData(chunk, padding, ends)
  }

  takeTrailers(trailers: HeaderBlock): void {
    this.#request?.takeTrailers(trailers)
  }

  // Requests from the handler.

  inform(status: number, headers: HeaderBlock): void {
    this.#response.inform(status, headers)
  }

  respond(status: number, headers: HeaderBlock, length: number): Sink {
    this.#response.begin(status, headers, length)
    return this.#response
  }

  takeOver(_status: number, headers: HeaderBlock): RawConnection | null {
    const input = this.#request
    if (input === null || !this.#isTunnel || this.isClosed || !this.#isProved(headers)) return null
    this.#isTakenOver = true
    input.isTunnelOpen = true
    headers.remove(ACCEPT_HEADER)
    headers.remove('content-length')
    this.#response.openTunnel(headers)
    const reset = (cause: Error): void => this.#resetTunnel(cause)
    return { socket: new StreamSocket({ input, output: this.#response, reset }), early: null }
  }

  /** Returns whether the backend accepted the WebSocket key, which the gateway created for the client. */
  #isProved(headers: HeaderBlock): boolean {
    const key = this.headers.get(KEY_HEADER)
    return this.upgrade !== 'websocket' || key === null || headers.get(ACCEPT_HEADER) === acceptOf(key)
  }

  #resetTunnel(cause: Error): void {
    if (this.isClosed) return
    const hasEnded = this.#response.isDone
    this.#response.source = null
    this.#fail(cause)
    if (!this.isClosed) this.#host.reset(this, hasEnded ? NO_ERROR : CONNECT_ERROR, cause)
  }

  reset(cause: Error): void {
    this.#response.source = null
    this.#fail(cause)
    if (!this.isClosed) this.#host.reset(this, INTERNAL_ERROR, cause)
  }

  // Callbacks from the request and the response.

  grant(bytes: number): void {
    this.#host.grant(this.output.id, bytes)
  }

  flushFrames(): void {
    this.#host.flush()
  }

  sendContinue(): void {
    this.inform(100, new HeaderBlock())
  }

  refuseLength(): void {
    this.#host.reset(this, PROTOCOL_ERROR, WRONG_LENGTH)
  }

  inputOver(): void {
    if (this.output.isOver && !this.isClosed) this.#host.ended(this)
  }

  responseSent(): void {
    if (this.#isTakenOver) return
    this.observer?.sent()
    this.#request?.discard(ANSWERED)
  }

  outputOver(): void {
    // Tells the client to stop sending a request that was answered (RFC 9113 section 8.1).
    if (this.inputEnded) this.#host.ended(this)
    // A tunnel that is closed in one direction stays open in the other.
    else if (!this.#isTakenOver) this.#host.reset(this, NO_ERROR, ANSWERED)
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
    if (this.#request !== null && !this.#request.isDone) this.#request.cancel()
  }

  connectionFaulted(error: unknown): void {
    this.#host.faulted(error)
  }

  // Callbacks from the connection.

  /** Called when the stream is closed; returns true when its response was complete. */
  closed(cause: Error): boolean {
    this.isClosed = true
    if (this.#response.isBodyless) this.#response.end(null)
    const whole = this.#response.isDone
    this.#fail(cause)
    return whole
  }

  /** Called when the client is gone, or the exchange was aborted. */
  #fail(cause: Error): void {
    this.#request?.abandon(cause)
    if (this.#response.abandon(cause) && !this.#isTakenOver) this.observer?.gone(cause)
  }

  /** Called periodically; returns true when the client has stalled this stream for too long. */
  isStalled(elapsedMs: number, limits: StallLimits): boolean {
    const request = this.#request
    // A gRPC client may legitimately be silent for hours.
    const awaitsClient = !this.#isTunnel && request?.awaitsClient === true && !isGrpc(this.headers)
    const unsent = this.output.queued
    const progress = this.bytesIn + this.bytesOut + (request?.tunnelBytes ?? 0) + this.#response.tunnelBytes - unsent
    if (progress !== this.#seenProgress || (!awaitsClient && unsent === 0)) {
      this.#seenProgress = progress
      this.#stalledMs = 0
      return false
    }
    this.#stalledMs += elapsedMs
    return this.#stalledMs >= (awaitsClient ? limits.stallTimeoutMs : limits.idleTimeoutMs)
  }
}

const WRONG_LENGTH = new Error('request body is not as long as announced')
const ANSWERED = new Error('answered before the request ended')
