import { performance } from 'node:perf_hooks'
import type { Deadlines } from '../../runtime/deadlines.ts'
import type { RawStream } from '../../exchange/exchange.ts'
import { FrameReader } from '../../http2/frame-reader.ts'
import * as frames from '../../http2/frames.ts'
import { FrameOutput, StreamOutput } from '../../http2/output.ts'
import type { PeerSettings } from '../../http2/peer-settings.ts'
import { ResponseFrames, type ResponseFramesHost } from './response-frames.ts'
import { HIGHEST_STREAM } from '../../http2/stream-table.ts'
import { readerOf, type SocketReader } from '../../socket/socket-reader.ts'
import { contained, InternalFault, reportFault } from '../../runtime/faults.ts'
import { BackendSettings, FRAME_LIMITS, GREETING, LIMITS } from './backend-settings.ts'
import { FrameSocket, type FrameSocketOwner } from './frame-socket.ts'
import { Http2Call } from './http2-call.ts'
import type { Carrier } from './http2-carrier.ts'
import { brokenConnection } from './http2-lost-call.ts'
import { OpenCalls } from './open-calls.ts'
import { Keepalive, type KeptConnection, PING_TIMEOUT_MS } from './keepalive.ts'
import {
  internalFailure,
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
} from '../upstream-types.ts'

/** Notified when a connection has room for calls, is unresponsive or closes. */
export interface Http2ConnectionOwner {
  /** A call ended, or the backend allows more calls: check `available` and `active`. */
  idle(connection: Http2Connection): void
  /** Pings are not answered any more; the connection closes next. */
  fellSilent(connection: Http2Connection): void
  closed(connection: Http2Connection): void
}

/** One HTTP/2 connection to a backend; carries many calls at a time. */
export class Http2Connection
  implements Carrier<Http2Call>, ResponseFramesHost<Http2Call>, KeptConnection, FrameSocketOwner
{
  readonly socket: RawStream
  readonly output: FrameOutput
  /** Scheme of this connection: a backend may refuse a scheme that it does not serve here. */
  readonly scheme: 'http' | 'https'
  /** Whether the backend has answered any call. */
  hasAnswered = false
  isLost = false
  /** When the connection became idle, for the pool. */
  idleSince = performance.now()

  readonly #owner: Http2ConnectionOwner
  readonly #deadlines: Deadlines
  readonly #keepalive: Keepalive
  readonly #received: ResponseFrames<Http2Call>
  readonly #frames: FrameSocket
  readonly #calls: OpenCalls
  readonly #settings = new BackendSettings()
  #nextStream = 1
  #pingAnswered: (() => void) | null = null
  #goingAway = false

  /** The socket must be connected; over TLS, ALPN must have chosen `h2`. */
  constructor(
    socket: RawStream,
    owner: Http2ConnectionOwner,
    deadlines: Deadlines,
    reader: SocketReader = readerOf(socket),
  ) {
    this.socket = socket
    this.#deadlines = deadlines
    this.#keepalive = new Keepalive(this, deadlines)
    this.scheme = 'encrypted' in socket ? 'https' : 'http'
    this.#owner = owner
    this.output = new FrameOutput(socket)
    this.#calls = new OpenCalls(this.output)
    this.#received = new ResponseFrames(this, this.#calls.streams, LIMITS)
    const frames = new FrameReader(this.#received, FRAME_LIMITS)
    this.#frames = new FrameSocket(this, { socket, reader, frames, output: this.output, deadlines })
    this.output.frames(GREETING)
    // The greeting leaves together with the first call.
    this.output.flushSoon()
  }

  /** Calls in progress. */
  get active(): number {
    return this.#calls.size
  }

  /** Calls carried so far. */
  get calls(): number {
    return this.#calls.ended
  }

  /** Called once every `LOOK_MS`. */
  look(): void {
    this.#calls.look()
  }

  /** Whether calls in progress may end, but no more calls are sent. */
  get isLeaving(): boolean {
    return this.#goingAway || this.socket.isLeaving === true
  }

  /** Whether another call may be sent. */
  get available(): boolean {
    if (this.active >= this.#settings.maxStreams || this.isLeaving || this.isLost || !this.socket.writable) return false
    return this.#nextStream <= HIGHEST_STREAM && this.#keepalive.isAnswered
  }

  /**
   * Whether an `available` connection can be trusted with a call; after a long pause, a ping has to be answered first.
   */
  isAwake(): boolean {
    return this.active > 0 || this.#keepalive.isAwake()
  }

  /** Whether a ping is pending that will soon tell if the connection is alive. */
  get isAboutToTell(): boolean {
    return !this.isLost && this.#keepalive.isAboutToTell
  }

  send(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
    const call = new Http2Call(this, request, handler)
    const isAlone = this.active === 0 && !this.#frames.isFeeding
    this.#calls.add(call)
    this.#keepalive.watch()
    if (!isAlone) {
      if (this.#calls.startLater(call)) setImmediate(startCalls, this)
      return call
    }
    try {
      call.start()
      this.flush()
    } catch (error) {
      call.cancel(new InternalFault())
      throw error
    }
    return call
  }

  /** Sends the calls of this turn in one write. */
  startCalls(): void {
    this.#calls.startAll()
    this.#frames.sendGathered()
  }

  /** Lets the calls in progress end, and accepts no more calls. */
  close(): void {
    this.#goingAway = true
    if (this.active === 0) this.#frames.leave()
  }

  // Requests from calls.

  now(): number {
    return this.#deadlines.now()
  }

  whenSettled(then: (takesTunnels: boolean) => void): void {
    this.#settings.whenSettled(then)
  }

  open(call: Http2Call, block: string, ends: boolean): boolean {
    const id = this.#nextStream
    if (this.isLost || id > HIGHEST_STREAM) return false
    this.#nextStream += 2
    const output = new StreamOutput(id, call, this.output.firstWindow)
    this.output.headers(output, block, ends)
    call.output = output
    const { streams } = this.#calls
    streams.last = id
    streams.open.set(id, call)
    return true
  }

  flush(): void {
    if (this.#frames.isFeeding || this.isLost) return
    // A single stream has no other stream to wait for.
    if (this.#calls.streams.open.size <= 1) this.output.flush()
    else this.output.flushSoon()
  }

  flushAfterRead(call: Http2Call): void {
    this.#calls.touch(call)
  }

  grant(stream: number, bytes: number): void {
    this.output.frames(frames.windowUpdateFrame(stream, bytes))
  }

  heard(isHead: boolean): void {
    if (isHead) this.hasAnswered = true
    this.#keepalive.heard()
  }

  gaveUp(sentAt: number): void {
    this.#keepalive.doubt(sentAt)
  }

  reset(call: Http2Call, code: number): void {
    const { id } = call.output
    if (id !== 0) {
      this.output.frames(frames.resetFrame(id, code))
      if (!call.inputEnded) this.#received.expectLate()
    }
    this.ended(call)
    this.flush()
  }

  ended(call: Http2Call): void {
    if (call.isClosed) return
    this.#calls.close(call)
    if (this.active === 0) {
      this.idleSince = performance.now()
      if (this.isLeaving) this.#frames.leave()
    }
    if (!this.isLost) contained('worker', () => this.#owner.idle(this))
  }

  /** After an exception here the state of the frames is unknown, so all calls end with the connection. */
  faulted(error: unknown): void {
    reportFault(error, 'connection')
    this.#giveUp(internalFailure())
    this.socket.destroy()
  }

  // Callbacks from the socket.

  /**
   * Delivers after the whole read: a protocol error in a later frame can still be reported to a client that has
   * received nothing.
   */
  readEnded(): void {
    this.#calls.flushTouched()
  }

  inputEnded(): void {
    this.#giveUp(null)
  }

  /** In TLS 1.3, a server rejects the client's certificate with an alert after the client's handshake is complete. */
  failed({ code = '' }: NodeJS.ErrnoException): void {
    if (!this.#settings.haveArrived && code.startsWith('ERR_SSL_')) {
      this.#giveUp(new UpstreamError('tls_failed', code, true))
    }
  }

  closed(): void {
    this.#owner.closed(this)
  }

  // Effects of the backend's frames.

  settingsChanged(settings: PeerSettings): void {
    this.#settings.change(settings)
    if (this.available) contained('worker', () => this.#owner.idle(this))
  }

  pingAnswered(payload: string): void {
    if (payload !== KEEPALIVE_PING) return
    const answered = this.#pingAnswered
    this.#pingAnswered = null
    answered?.()
  }

  goesAway(lastStream: number, code: number): void {
    this.#goingAway = true
    const because = `GOAWAY with ${frames.errorName(code)}`
    this.#calls.disown(lastStream, because)
    if (code !== frames.NO_ERROR) {
      this.#giveUp(because)
      this.#frames.closeSoon()
    } else if (this.active === 0) this.#frames.leave()
  }

  broke(call: Http2Call, code: number): void {
    call.refuse(`stream broke the rules of HTTP/2 (${frames.errorName(code)})`, code)
  }

  fail(code: number): void {
    this.#cutOff(code, brokenConnection(code))
  }

  tooManyFrames(): void {
    this.#cutOff(
      frames.ENHANCE_YOUR_CALM,
      new UpstreamError('bad_response', 'connection carries too many frames without effect', false),
    )
  }

  #cutOff(code: number, error: UpstreamError): void {
    if (this.isLost) return
    this.output.frames(frames.goawayFrame(0, code))
    this.#giveUp(error)
    this.#frames.closeSoon()
  }

  /** Fails all calls; gathered frames are still written. */
  #giveUp(because: UpstreamError | string | null): void {
    if (this.isLost) return
    this.isLost = true
    contained('connection', () => this.#frames.stop())
    this.#keepalive.stop()
    this.#settings.giveUp()
    for (const call of this.#calls.all.list()) {
      try {
        this.#calls.close(call)
        call.lose(because)
      } catch (error) {
        call.faulted(error)
      }
    }
  }

  // Requests from the keepalive.

  get isBusy(): boolean {
    return this.active > 0
  }

  get bytesRead(): number {
    return this.socket.bytesRead
  }

  ping(answered: () => void): void {
    if (this.isLost) return
    this.#pingAnswered = answered
    this.output.frames(frames.pingFrame(KEEPALIVE_PING, 0))
    this.flush()
  }

  changed(): void {
    this.#owner.idle(this)
  }

  fellSilent(): void {
    this.#owner.fellSilent(this)
    this.#giveUp(`no answer to a ping in ${PING_TIMEOUT_MS / 1000}s`)
    this.socket.destroy()
  }
}

function startCalls(connection: Http2Connection): void {
  try {
    connection.startCalls()
  } catch (error) {
    connection.faulted(error)
  }
}

const KEEPALIVE_PING = 'keep-up?'
