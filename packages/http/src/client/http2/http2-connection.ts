import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { Deadline, type Deadlines } from '../../runtime/deadlines.ts'
import { FrameReader } from '../../http2/frame-reader.ts'
import * as frames from '../../http2/frames.ts'
import { FrameOutput, StreamOutput } from '../../http2/output.ts'
import { clientSettings, type PeerSettings } from '../../http2/peer-settings.ts'
import { ResponseFrames, type ResponseFramesHost } from './response-frames.ts'
import { HIGHEST_STREAM, StreamTable } from '../../http2/stream-table.ts'
import { readerOf, type SocketReader } from '../../socket/socket-reader.ts'
import { contained, InternalFault, reportFault } from '../../runtime/faults.ts'
import { Http2Call } from './http2-call.ts'
import type { Carrier } from './http2-carrier.ts'
import { brokenConnection } from './http2-lost-call.ts'
import { STREAM_WINDOW } from './http2-response-body.ts'
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
export class Http2Connection implements Carrier<Http2Call>, ResponseFramesHost<Http2Call>, KeptConnection {
  readonly socket: Socket
  readonly output: FrameOutput
  /** Scheme of this connection: a backend may refuse a scheme that it does not serve here. */
  readonly scheme: 'http' | 'https'
  /** Calls carried so far. */
  calls = 0
  /** Whether the backend has answered any call. */
  hasAnswered = false
  isLost = false
  /** When the connection became idle, for the pool. */
  idleSince = performance.now()

  readonly #owner: Http2ConnectionOwner
  readonly #deadlines: Deadlines
  readonly #reader: SocketReader
  readonly #keepalive: Keepalive
  readonly #streams = new StreamTable<Http2Call>()
  readonly #received: ResponseFrames<Http2Call>
  readonly #frames: FrameReader
  /** Closes the socket when the backend does not, because it is gone. */
  readonly #goodbye = new Deadline(() => this.socket.destroy())
  readonly #openCalls = new Set<Http2Call>()
  /** Calls that are sent at the end of this turn: when a GOAWAY comes first, the backend has seen none of them. */
  #starting: Http2Call[] = []
  /** Calls that got data in this read. */
  #touched: Http2Call[] = []
  #isFeeding = false
  #readPaused = false
  #nextStream = 1
  /** Whether streams may carry other protocols (RFC 8441); null until the backend's settings arrive. */
  #takesTunnels: boolean | null = null
  readonly #awaitingSettings: ((takesTunnels: boolean) => void)[] = []
  #pingAnswered: (() => void) | null = null
  #limit = MAX_STREAMS
  #goingAway = false
  #hasLeft = false

  /** The socket must be connected; over TLS, ALPN must have chosen `h2`. */
  constructor(
    socket: Socket,
    owner: Http2ConnectionOwner,
    deadlines: Deadlines,
    reader: SocketReader = readerOf(socket),
  ) {
    this.socket = socket
    this.#deadlines = deadlines
    this.#keepalive = new Keepalive(this, deadlines)
    this.scheme = 'encrypted' in socket ? 'https' : 'http'
    this.#owner = owner
    this.#reader = reader
    this.output = new FrameOutput(socket)
    this.#received = new ResponseFrames(this, this.#streams, LIMITS)
    this.#frames = new FrameReader(this.#received, FRAME_LIMITS)
    reader.start(this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('drain', this.#onDrain)
    socket.on('error', ignore)
    socket.on('close', this.#onClose)
    socket.resume()
    this.output.frames(GREETING)
    // The greeting leaves together with the first call.
    this.output.flushSoon()
  }

  /** Calls in progress. */
  get active(): number {
    return this.#openCalls.size
  }

  /** Called once every `LOOK_MS`. */
  look(): void {
    for (const call of this.#openCalls) call.look()
  }

  /** Whether another call may be sent. */
  get available(): boolean {
    if (this.active >= this.#limit || this.#goingAway || this.isLost || !this.socket.writable) return false
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
    const isAlone = this.active === 0 && !this.#isFeeding
    this.#openCalls.add(call)
    this.#keepalive.watch()
    if (!isAlone) {
      if (this.#starting.push(call) === 1) setImmediate(startCalls, this)
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
    const calls = this.#starting
    this.#starting = []
    for (const call of calls) {
      try {
        call.start()
      } catch (error) {
        call.faulted(error)
      }
    }
    this.#sendGathered()
  }

  /** Lets the calls in progress end, and accepts no more calls. */
  close(): void {
    this.#goingAway = true
    if (this.active === 0) this.#leave()
  }

  // Requests from calls.

  now(): number {
    return this.#deadlines.now()
  }

  whenSettled(then: (takesTunnels: boolean) => void): void {
    if (this.#takesTunnels === null) this.#awaitingSettings.push(then)
    else then(this.#takesTunnels)
  }

  open(call: Http2Call, block: string, ends: boolean): boolean {
    const id = this.#nextStream
    if (this.isLost || id > HIGHEST_STREAM) return false
    this.#nextStream += 2
    const output = new StreamOutput(id, call, this.output.firstWindow)
    this.output.headers(output, block, ends)
    call.output = output
    this.#streams.last = id
    this.#streams.open.set(id, call)
    return true
  }

  flush(): void {
    if (this.#isFeeding || this.isLost) return
    // A single stream has no other stream to wait for.
    if (this.#streams.open.size <= 1) this.output.flush()
    else this.output.flushSoon()
  }

  flushAfterRead(call: Http2Call): void {
    const touched = this.#touched
    if (touched[touched.length - 1] !== call) touched.push(call)
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
    this.#forget(call)
    this.calls++
    if (this.active === 0) {
      this.idleSince = performance.now()
      if (this.#goingAway) this.#leave()
    }
    if (!this.isLost) contained('worker', () => this.#owner.idle(this))
  }

  #forget(call: Http2Call): void {
    call.isClosed = true
    this.#openCalls.delete(call)
    const { output } = call
    if (output.id === 0) return
    this.#streams.open.delete(output.id)
    contained('connection', () => this.output.forget(output))
  }

  /** After an exception here the state of the frames is unknown, so all calls end with the connection. */
  faulted(error: unknown): void {
    reportFault(error, 'connection')
    this.#giveUp(internalFailure())
    this.socket.destroy()
  }

  // Bytes.

  readonly #onData = (chunk: Buffer): void => {
    if (this.isLost) return
    this.#isFeeding = true
    try {
      this.#frames.feed(chunk, 0, chunk.length)
    } catch (error) {
      this.faulted(error)
    }
    this.#isFeeding = false
    this.#flushTouched()
    this.#sendGathered()
  }

  /**
   * Delivers after the whole read: a protocol error in a later frame can still be reported to a client that has
   * received nothing.
   */
  #flushTouched(): void {
    const touched = this.#touched
    if (touched.length === 0) return
    this.#touched = []
    for (const call of touched) call.flushResponse()
  }

  #sendGathered(): void {
    if (this.isLost) return
    try {
      this.output.pump()
      this.output.flush()
      this.#adjustReading()
    } catch (error) {
      this.faulted(error)
    }
  }

  /** A backend that sends pings without reading must not fill our memory with replies. */
  #adjustReading(): void {
    const pause = this.output.unsent > MAX_UNSENT
    if (pause === this.#readPaused) return
    this.#readPaused = pause
    if (pause) this.socket.pause()
    else this.socket.resume()
  }

  readonly #onDrain = (): void => this.#sendGathered()

  readonly #onEnd = (): void => {
    this.#giveUp(null)
    this.socket.destroy()
  }

  readonly #onClose = (): void => {
    this.#giveUp(null)
    this.#deadlines.clear(this.#goodbye)
    contained('worker', () => this.#owner.closed(this))
  }

  // Effects of the backend's frames.

  settingsChanged({ maxStreams, takesTunnels }: PeerSettings): void {
    if (maxStreams !== undefined) this.#limit = Math.min(maxStreams, MAX_STREAMS)
    this.#settle(takesTunnels ?? this.#takesTunnels ?? false)
    if (this.available) contained('worker', () => this.#owner.idle(this))
  }

  #settle(takesTunnels: boolean): void {
    this.#takesTunnels = takesTunnels
    for (const then of this.#awaitingSettings.splice(0)) contained('request', () => then(takesTunnels))
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
    for (const call of [...this.#openCalls]) {
      // A call without a stream gets none on this connection.
      if (call.output.id !== 0 && call.output.id <= lastStream) continue
      this.#forget(call)
      this.calls++
      try {
        call.disown(because)
      } catch (error) {
        call.faulted(error)
      }
    }
    if (code !== frames.NO_ERROR) {
      this.#giveUp(because)
      this.#closeSoon()
    } else if (this.active === 0) this.#leave()
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
      new UpstreamError('bad_response', 'connection carries too many frames that lead nowhere', false),
    )
  }

  #cutOff(code: number, error: UpstreamError): void {
    if (this.isLost) return
    this.output.frames(frames.goawayFrame(0, code))
    this.#giveUp(error)
    this.#closeSoon()
  }

  /** Closes the connection once the last frames have been sent. */
  #closeSoon(): void {
    this.socket.destroySoon()
    if (!this.socket.destroyed) this.#deadlines.set(this.#goodbye, PING_TIMEOUT_MS)
  }

  /** Fails all calls; gathered frames are still written. */
  #giveUp(because: UpstreamError | string | null): void {
    if (this.isLost) return
    this.isLost = true
    this.#frames.stop()
    this.#keepalive.stop()
    this.output.close()
    this.#reader.release()
    this.socket.off('end', this.#onEnd)
    this.socket.resume()
    this.#settle(false)
    for (const call of [...this.#openCalls]) {
      this.#forget(call)
      this.calls++
      try {
        call.lose(because)
      } catch (error) {
        call.faulted(error)
      }
    }
  }

  #leave(): void {
    if (this.#hasLeft || this.isLost) return
    this.#hasLeft = true
    this.output.frames(frames.goawayFrame(0, frames.NO_ERROR))
    this.output.flush()
    this.socket.end()
    this.#deadlines.set(this.#goodbye, PING_TIMEOUT_MS)
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

function ignore(): void {}

const MAX_STREAMS = 100
const MAX_HEAD = 262_144
const CONNECTION_WINDOW = 4_194_304
const LIMITS = { connectionWindowSize: CONNECTION_WINDOW, maxHeaderSize: MAX_HEAD, maxFields: 500 }
const FRAME_LIMITS = { maxFrame: frames.SMALLEST_MAX_FRAME, maxWhole: frames.SMALLEST_MAX_FRAME }
const GREETING =
  frames.PREFACE.toString('latin1') +
  clientSettings({ windowSize: STREAM_WINDOW, maxHeaderSize: MAX_HEAD }) +
  frames.windowUpdateFrame(0, CONNECTION_WINDOW - frames.FIRST_WINDOW)
/** Above this number of unsent bytes, nothing is read from the backend until it reads. */
const MAX_UNSENT = 1_048_576
const KEEPALIVE_PING = 'keep-up?'
