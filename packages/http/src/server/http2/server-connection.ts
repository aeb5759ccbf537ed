import { Deadline, type Deadlines } from '../../runtime/deadlines.ts'
import type { ConnectionInfo, ExchangeHandler, ExchangeObserver, RawStream } from '../../exchange/exchange.ts'
import { contained, InternalFault, reportFault } from '../../runtime/faults.ts'
import { lingeringClose } from '../../socket/lingering-close.ts'
import { readerOf, type SocketReader } from '../../socket/socket-reader.ts'
import { FrameReader } from '../../http2/frame-reader.ts'
import * as frames from '../../http2/frames.ts'
import { FrameOutput } from '../../http2/output.ts'
import { serverSettings } from '../../http2/peer-settings.ts'
import { maxBlockSize } from '../../http2/received-frames.ts'
import { RequestFrames, type RequestFramesHost } from './request-frames.ts'
import { ResetGuard } from './reset-guard.ts'
import type { Http2Exchange } from './server-exchange.ts'
import { HIGHEST_STREAM, StreamTable } from '../../http2/stream-table.ts'

export interface Http2Limits {
  /**
   * Milliseconds for a client that does not send its request body; a client that does not read has the idle timeout.
   */
  stallTimeoutMs: number
  windowSize: number
  /** Largest window of a stream, in bytes; windows grow up to it while the body is read as it arrives. */
  largestWindowSize: number
  connectionWindowSize: number
  frameSize: number
  /** Decoded names and values of one head, plus 32 bytes for each field; a larger head gets 431. */
  maxHeaderSize: number
  maxStreams: number
  /** Milliseconds between pings; 0 disables pings. */
  keepaliveIntervalMs: number
  keepaliveTimeoutMs: number
}

export interface Http2ServerOptions extends Http2Limits {
  handler: ExchangeHandler
  deadlines: Deadlines
  /** Milliseconds for a connection without streams, and for a client that reads nothing of its response. */
  idleTimeoutMs: number
  /** The age in milliseconds at which the connection is drained; 0 disables the limit. */
  maxDurationMs: number
  /** Called for every rejected request; status is 0 when the connection itself was rejected. */
  onRefused(info: ConnectionInfo, status: number, code: string): void
  /** Called for every malformed head: its stream was reset without a response. */
  onReset(info: ConnectionInfo, code: string): void
  onClosed(connection: Http2ServerConnection): void
}

export const http2Defaults: Readonly<Http2Limits> = {
  stallTimeoutMs: 60_000,
  // 25 MB/s at a latency of 10 ms; a stream whose backend does not read buffers no more than that.
  windowSize: 262_144,
  largestWindowSize: 1_048_576,
  // The connection's window is returned at once, so it only has to exceed the data in flight.
  connectionWindowSize: 4_194_304,
  frameSize: 16_384,
  maxHeaderSize: 16_384,
  maxStreams: 200,
  keepaliveIntervalMs: 0,
  keepaliveTimeoutMs: 20_000,
}

/** Serves a socket from which nothing has been read. */
export function serveHttp2(
  socket: RawStream,
  info: ConnectionInfo,
  options: Http2ServerOptions,
): Http2ServerConnection {
  const connection = new Http2ServerConnection(socket, info, options)
  connection.start(null)
  return connection
}

/** One client connection and its streams. */
export class Http2ServerConnection implements RequestFramesHost {
  readonly info: ConnectionInfo
  readonly output: FrameOutput
  readonly #socket: RawStream
  readonly #reader: SocketReader
  readonly #options: Http2ServerOptions
  readonly #frames: FrameReader
  readonly #received: RequestFrames
  readonly #streams = new StreamTable<Http2Exchange>()
  readonly #resets = new ResetGuard()
  readonly #watch = new Deadline(() => this.#look())
  readonly #watchMs: number
  readonly #keepalive = new Deadline(() => this.#keepaliveDue())
  readonly #lifetime = new Deadline(() => this.drain())
  readonly #headLimit = new Deadline(() => this.#end(frames.PROTOCOL_ERROR, 'request_head_timeout'))
  /** The number of the frame that `#headLimit` runs for, or `HEAD`; -1 when it does not run. */
  #timedFrame = 0
  readonly #lastCall = new Deadline(() => this.#sayLast())
  /** Bytes of the preface that have arrived. */
  #prefaceSeen = 0
  #isFeeding = false
  #readPaused = false
  #idleSince: number
  #lookedAt: number
  #takenBefore = 0
  #stuckMs = 0
  #pingOutstanding = false
  #draining = false
  #peerLeaves = false
  #isOver = false
  #cause: Error = CLIENT_LEFT

  constructor(
    socket: RawStream,
    info: ConnectionInfo,
    options: Http2ServerOptions,
    reader: SocketReader = readerOf(socket),
  ) {
    this.info = info
    this.#socket = socket
    this.#reader = reader
    this.#options = options
    this.output = new FrameOutput(socket)
    this.#received = new RequestFrames(this, this.#streams, options)
    this.#frames = new FrameReader(this.#received, {
      maxFrame: options.frameSize,
      maxWhole: Math.min(options.frameSize, maxBlockSize(options.maxHeaderSize)),
    })
    this.#idleSince = options.deadlines.now()
    this.#lookedAt = this.#idleSince
    this.#watchMs = Math.min(options.idleTimeoutMs, options.stallTimeoutMs)
    options.deadlines.set(this.#watch, this.#watchMs)
    // Limit for the preface and the first SETTINGS frame.
    options.deadlines.set(this.#headLimit, options.stallTimeoutMs)
    if (options.maxDurationMs > 0) options.deadlines.set(this.#lifetime, options.maxDurationMs)
    if (options.keepaliveIntervalMs > 0) options.deadlines.set(this.#keepalive, options.keepaliveIntervalMs)
  }

  /** Starts with bytes that were already read. */
  start(first: Buffer | null): void {
    const socket = this.#socket
    this.#reader.start(this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('drain', this.#onDrain)
    socket.on('error', ignore)
    socket.on('close', this.#onClose)
    this.output.frames(serverSettings(this.#options))
    const more = this.#options.connectionWindowSize - frames.FIRST_WINDOW
    if (more > 0) this.grant(0, more)
    if (first === null) this.output.flush()
    else this.#onData(first)
    if (!this.#readPaused) socket.resume()
  }

  /** Streams in progress. */
  get active(): number {
    return this.#streams.open.size
  }

  eachObserver(visit: (observer: ExchangeObserver | null) => void): void {
    for (const { observer } of this.#streams.open.list()) visit(observer)
  }

  /** Accepts no streams after those that the client has opened by now, and those in flight. */
  drain(): void {
    if (this.#draining || this.#isOver) return
    this.#draining = true
    this.#options.deadlines.set(this.#lastCall, ROUND_TRIP_MS)
    // The client's ping reply shows that it has read the GOAWAY and opens no more streams.
    this.output.frames(frames.goawayFrame(HIGHEST_STREAM, frames.NO_ERROR) + frames.pingFrame(DRAIN_PING, 0))
    this.flush()
  }

  #sayLast(): void {
    const streams = this.#streams
    if (this.#isOver || streams.lastAnswered !== HIGHEST_STREAM) return
    streams.lastAnswered = streams.last
    this.output.frames(frames.goawayFrame(streams.last, frames.NO_ERROR))
    this.flush()
    this.#leaveIfDone()
  }

  /** For a connection accepted while the gateway drains: requests that arrive in that time are answered. */
  drainSoon(milliseconds: number): void {
    this.#options.deadlines.set(this.#lifetime, milliseconds)
  }

  destroy(cause: Error): void {
    if (this.#isOver) return void this.#socket.destroy()
    this.#cause = cause
    // A response that breaks off must not look complete.
    const code = this.#streams.open.size === 0 ? frames.NO_ERROR : frames.INTERNAL_ERROR
    this.output.frames(frames.goawayFrame(this.#streams.last, code))
    this.#giveUp()
    if (this.#socket.writableNeedDrain) this.#socket.destroy()
    else this.#socket.destroySoon()
  }

  // Requests from exchanges.

  now(): number {
    return this.#options.deadlines.now()
  }

  flush(): void {
    if (this.#isFeeding || this.#isOver) return
    // A single stream has no other stream to wait for.
    if (this.#streams.open.size <= 1) this.output.flush()
    else this.output.flushSoon()
  }

  opened(exchange: Http2Exchange): void {
    try {
      this.#options.handler(exchange)
    } catch (error) {
      exchange.faulted(error)
    }
  }

  refused(status: number, code: string): void {
    this.#options.onRefused(this.info, status, code)
  }

  resetUnread(code: string): void {
    this.#options.onReset(this.info, code)
  }

  grant(stream: number, bytes: number): void {
    this.output.frames(frames.windowUpdateFrame(stream, bytes))
  }

  ended(exchange: Http2Exchange): void {
    const isRapid = this.#isRapid(exchange)
    if (this.#close(exchange, this.#cause)) this.#resets.completed()
    else if (isRapid) this.countReset()
    this.#leaveIfDone()
  }

  reset(exchange: Http2Exchange, code: number, cause: Error): void {
    const { id } = exchange.output
    if (!exchange.inputEnded) this.#streams.cutOff(id)
    this.output.frames(frames.resetFrame(id, code))
    const whole = this.#close(exchange, cause)
    // A client that makes this side reset streams costs as much as a client that resets them.
    if (whole && (code === frames.NO_ERROR || code === frames.INTERNAL_ERROR)) this.#resets.completed()
    else this.countReset()
    this.#leaveIfDone()
    this.flush()
  }

  broke(exchange: Http2Exchange, code: number): void {
    this.reset(exchange, code, BROKEN)
  }

  /**
   * Returns whether a client that cancels the stream now received next to nothing: a stream that ran for a while or was
   * answered is no attack.
   */
  #isRapid(exchange: Http2Exchange): boolean {
    if (exchange.bytesOut - exchange.output.queued >= ANSWERED_BYTES) return false
    return this.#options.deadlines.now() - exchange.openedAt < RAPID_MS
  }

  /** Returns true when the response was complete. */
  #close(exchange: Http2Exchange, cause: Error): boolean {
    const { open } = this.#streams
    open.delete(exchange.output.id)
    this.output.forget(exchange.output)
    if (open.size === 0) this.#idleSince = this.now()
    return exchange.closed(cause)
  }

  // Bytes.

  readonly #onData = (chunk: Buffer): void => {
    if (this.#isOver) return
    this.#isFeeding = true
    try {
      const start = this.#prefaceSeen < frames.PREFACE.length ? this.#readPreface(chunk) : 0
      this.#frames.feed(chunk, start, chunk.length)
    } catch (error) {
      this.faulted(error)
    }
    this.#isFeeding = false
    this.#sendGathered()
  }

  /** Sends output once per read, because a write for each window update would be small. */
  #sendGathered(): void {
    if (this.#isOver) return
    try {
      this.output.pump()
      this.output.flush()
      this.#adjustReading()
      this.#limitHead()
    } catch (error) {
      this.faulted(error)
    }
  }

  /** After an exception here the state of the frames is unknown, so all streams end with the connection. */
  faulted(error: unknown): void {
    reportFault(error, 'connection')
    contained('connection', () => this.destroy(new InternalFault()))
    this.#socket.destroy()
  }

  /** Limits the time from the first byte of a frame or a head to its end, even if bytes trickle in. */
  #limitHead(): void {
    if (!this.#received.hasSettings) return
    const { isInsideHead } = this.#received
    if (!isInsideHead && !this.#frames.isInsideFrame) {
      if (this.#timedFrame === -1) return
      this.#timedFrame = -1
      return this.#options.deadlines.clear(this.#headLimit)
    }
    // A head of several frames is timed from its first frame on.
    const frame = isInsideHead ? HEAD : this.#frames.delivered
    const isTimed = frame === this.#timedFrame || (isInsideHead && this.#timedFrame === this.#frames.delivered - 1)
    this.#timedFrame = frame
    if (!isTimed) this.#options.deadlines.set(this.#headLimit, this.#options.stallTimeoutMs)
  }

  #readPreface(bytes: Buffer): number {
    const taken = Math.min(bytes.length, frames.PREFACE.length - this.#prefaceSeen)
    const isSame = bytes.compare(frames.PREFACE, this.#prefaceSeen, this.#prefaceSeen + taken, 0, taken) === 0
    this.#prefaceSeen += taken
    if (!isSame) this.fail(frames.PROTOCOL_ERROR)
    return taken
  }

  /** A client that sends requests without reading must not fill our memory with responses. */
  #adjustReading(): void {
    const pause = this.output.unsent > MAX_UNSENT
    if (pause === this.#readPaused) return
    this.#readPaused = pause
    if (pause) this.#socket.pause()
    else this.#socket.resume()
  }

  readonly #onDrain = (): void => this.#sendGathered()

  /** A client that sends no more can neither open a stream nor extend a window. */
  readonly #onEnd = (): void => {
    this.#giveUp()
    this.#socket.destroy()
  }

  readonly #onClose = (): void => {
    const { deadlines } = this.#options
    this.#giveUp()
    deadlines.clear(this.#watch)
    deadlines.clear(this.#keepalive)
    deadlines.clear(this.#lifetime)
    deadlines.clear(this.#lastCall)
    deadlines.clear(this.#headLimit)
    this.#options.onClosed(this)
  }

  // Effects of the client's frames.

  countReset(): void {
    if (this.#resets.reset(this.#options.deadlines.now())) this.#end(frames.ENHANCE_YOUR_CALM, 'too_many_resets')
  }

  tooManyFrames(): void {
    this.#end(frames.ENHANCE_YOUR_CALM, 'too_many_frames')
  }

  /** Ends the connection: nothing that the client sends after this can be relied on. */
  fail(code: number): void {
    this.#end(code, 'protocol_error')
  }

  #end(code: number, reason: string): void {
    if (this.#isOver) return
    this.#options.onRefused(this.info, 0, reason)
    this.#cause = new Error(`client was cut off: ${reason.replaceAll('_', ' ')}`)
    this.output.frames(frames.goawayFrame(this.#streams.last, code))
    this.#giveUp()
    lingeringClose(this.#socket, this.#options.deadlines)
  }

  pingAnswered(payload: string): void {
    if (payload === DRAIN_PING && this.#draining) return this.#sayLast()
    if (payload !== KEEPALIVE_PING || !this.#pingOutstanding) return
    this.#pingOutstanding = false
    this.#options.deadlines.set(this.#keepalive, this.#options.keepaliveIntervalMs)
  }

  peerLeaves(): void {
    this.#peerLeaves = true
    this.#leaveIfDone()
  }

  #leaveIfDone(): void {
    if (this.#isOver || this.#streams.open.size > 0) return
    if (!this.#peerLeaves && this.#streams.lastAnswered === HIGHEST_STREAM) return
    this.#giveUp()
    lingeringClose(this.#socket, this.#options.deadlines)
  }

  /** Ends all streams; gathered frames are still written. */
  #giveUp(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#frames.stop()
    this.output.close()
    for (const exchange of this.#streams.open.list()) {
      contained('connection', () => {
        this.output.forget(exchange.output)
        exchange.closed(this.#cause)
      })
    }
    this.#streams.open.clear()
    this.#reader.release()
    this.#socket.off('end', this.#onEnd)
  }

  /** Checks all streams periodically, instead of a timer per stream. */
  #look(): void {
    const { deadlines, idleTimeoutMs } = this.#options
    const now = deadlines.now()
    const elapsed = now - this.#lookedAt
    this.#lookedAt = now
    if (this.#isOver) return
    if (this.#streams.open.size === 0 && now - this.#idleSince >= idleTimeoutMs) this.drain()
    for (const exchange of this.#streams.open.list()) {
      if (exchange.isStalled(elapsed, this.#options)) exchange.reset(STALLED)
    }
    const isStuck = this.output.unsent > 0 && this.output.taken === this.#takenBefore
    this.#takenBefore = this.output.taken
    this.#stuckMs = isStuck ? this.#stuckMs + elapsed : 0
    if (this.#stuckMs >= idleTimeoutMs) return this.destroy(STALLED)
    deadlines.set(this.#watch, this.#watchMs)
  }

  #keepaliveDue(): void {
    if (this.#isOver) return
    // Runs after the reads of this turn: a delayed thread must not blame a client whose reply has already arrived.
    if (this.#pingOutstanding) return void setImmediate(() => this.#giveUpSilent())
    this.#pingOutstanding = true
    this.#options.deadlines.set(this.#keepalive, this.#options.keepaliveTimeoutMs)
    this.output.frames(frames.pingFrame(KEEPALIVE_PING, 0))
    this.flush()
  }

  #giveUpSilent(): void {
    if (this.#pingOutstanding) this.destroy(new Error('client does not answer pings'))
  }
}

function ignore(): void {}

const CLIENT_LEFT = new Error('client closed the stream or the connection')
const BROKEN = new Error('client broke the rules of HTTP/2')
const STALLED = new Error('client neither sends nor reads')
const KEEPALIVE_PING = 'keep-up?'
const DRAIN_PING = 'draining'
/** Above this number of unsent bytes, nothing is read from a client until it reads. */
const MAX_UNSENT = 1_048_576
/** A stream canceled after this time, or after this many response bytes, is not a rapid reset. */
const RAPID_MS = 1_000
const ANSWERED_BYTES = 16_384
/** Stands for a head that spans several frames. */
const HEAD = -2
/** Milliseconds to wait for the reply to the ping of a drain. */
const ROUND_TRIP_MS = 1_000
