import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { Deadline, type Deadlines } from '../deadlines.ts'
import type { ConnectionInfo, ExchangeHandler } from '../exchange.ts'
import type { HeadProblem } from '../http1/head.ts'
import { latin1 } from '../http1/chars.ts'
import { lingeringClose } from '../lingering-close.ts'
import { readerOf, type SocketReader } from '../socket-reader.ts'
import { spentBuffers } from '../spent-buffers.ts'
import { FieldBlock } from './field-block.ts'
import { FrameGuard } from './frame-guard.ts'
import { type FrameReceiver, FrameReader } from './frame-reader.ts'
import * as frames from './frames.ts'
import { type FieldSink, HpackDecoder } from './hpack/decode.ts'
import { TABLE_SIZE } from './hpack/tables.ts'
import { FrameOutput, StreamOutput } from './output.ts'
import { readSettings, settingsFrame } from './peer-settings.ts'
import { Fields, HEAD_TOO_LARGE, MALFORMED, RequestHead, TrailerFields } from './request-head.ts'
import { ResetGuard } from './reset-guard.ts'
import { refusalBlock } from './response-head.ts'
import { type ExchangeHost, Http2Exchange } from './server-exchange.ts'

export interface Http2Limits {
  /** For a client that does not send the body of its request; one that does not read has the idle timeout. */
  stallTimeoutMs: number
  windowSize: number
  connectionWindowSize: number
  frameSize: number
  /** Names and values of one head, decoded, with 32 bytes for each field; a larger head gets 431. */
  maxHeaderSize: number
  maxStreams: number
  /** Time between pings; 0 for none. */
  keepaliveIntervalMs: number
  keepaliveTimeoutMs: number
}

export interface Http2ServerOptions extends Http2Limits {
  handler: ExchangeHandler
  deadlines: Deadlines
  /** For a connection without streams, and for a client that takes nothing of its response. */
  idleTimeoutMs: number
  /** The connection is drained when it is this old; 0 for never. */
  maxDurationMs: number
  /** Told of every request that was refused; status 0 when the connection itself was. */
  onRefused(info: ConnectionInfo, status: number, code: string): void
  onClosed(connection: Http2ServerConnection): void
}

export const http2Defaults: Readonly<Http2Limits> = {
  stallTimeoutMs: 60_000,
  // 25 MB/s at a distance of 10 ms; a stream whose backend does not read holds no more than that.
  windowSize: 262_144,
  // Given back at once, whatever becomes of the data: it only has to be above what is on its way.
  connectionWindowSize: 4_194_304,
  frameSize: 16_384,
  maxHeaderSize: 16_384,
  maxStreams: 200,
  keepaliveIntervalMs: 0,
  keepaliveTimeoutMs: 20_000,
}

/** For a socket of which nothing was read. */
export function serveHttp2(socket: Socket, info: ConnectionInfo, options: Http2ServerOptions): Http2ServerConnection {
  const connection = new Http2ServerConnection(socket, info, options)
  connection.start(null)
  return connection
}

/** One client connection and its streams. */
export class Http2ServerConnection implements ExchangeHost, FrameReceiver {
  readonly info: ConnectionInfo
  readonly output: FrameOutput
  readonly #socket: Socket
  readonly #reader: SocketReader
  readonly #options: Http2ServerOptions
  readonly #frames: FrameReader
  readonly #decoder: HpackDecoder
  readonly #maxBlock: number
  readonly #streams = new Map<number, Http2Exchange>()
  /** Streams that this side has ended while the client was still sending, for what is on its way; the oldest first. */
  readonly #cutOff = new Set<number>()
  readonly #resets = new ResetGuard()
  readonly #guard = new FrameGuard()
  readonly #watch = new Deadline(() => this.#look())
  readonly #watchMs: number
  readonly #keepalive = new Deadline(() => this.#keepaliveDue())
  readonly #lifetime = new Deadline(() => this.drain())
  readonly #lastCall = new Deadline(() => this.#sayLast())
  /** Bytes of the preface that have come. */
  #prefaceSeen = 0
  #hasSettings = false
  #block: FieldBlock | null = null
  #lastStream = 0
  /** Streams above it are not answered: the client was told so. */
  #lastAnswered = frames.LARGEST_WINDOW
  /** Bytes that the client may send on all streams together, and those to be allowed anew. */
  #window: number
  #consumed = 0
  #dataFramesSeen = 0
  /** The bytes at hand are overwritten by the next read. */
  #isShared = false
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
    socket: Socket,
    info: ConnectionInfo,
    options: Http2ServerOptions,
    reader: SocketReader = readerOf(socket),
  ) {
    this.info = info
    this.#socket = socket
    this.#reader = reader
    this.#options = options
    this.output = new FrameOutput(socket)
    this.#maxBlock = 2 * options.maxHeaderSize + frames.SMALLEST_MAX_FRAME
    this.#decoder = new HpackDecoder({ maxSize: options.maxHeaderSize, maxFields: MAX_FIELDS })
    this.#frames = new FrameReader(this, {
      maxFrame: options.frameSize,
      maxWhole: Math.min(options.frameSize, this.#maxBlock),
    })
    this.#window = Math.max(options.connectionWindowSize, frames.FIRST_WINDOW)
    this.#idleSince = performance.now()
    this.#lookedAt = this.#idleSince
    this.#watchMs = Math.min(options.idleTimeoutMs, options.stallTimeoutMs)
    options.deadlines.set(this.#watch, this.#watchMs)
    if (options.maxDurationMs > 0) options.deadlines.set(this.#lifetime, options.maxDurationMs)
    if (options.keepaliveIntervalMs > 0) options.deadlines.set(this.#keepalive, options.keepaliveIntervalMs)
  }

  /** Begins, with bytes that were read before. */
  start(first: Buffer | null): void {
    const socket = this.#socket
    this.#reader.start(this.#onData, this.#onGlance)
    socket.on('end', this.#onEnd)
    socket.on('drain', this.#onDrain)
    socket.on('error', ignore)
    socket.on('close', this.#onClose)
    this.output.frames(settingsFrame(this.#options))
    const more = this.#window - frames.FIRST_WINDOW
    if (more > 0) this.output.frames(frames.windowUpdateFrame(0, more))
    if (first === null) this.output.flush()
    else this.#onData(first)
    if (!this.#readPaused) socket.resume()
  }

  /** Streams in progress. */
  get active(): number {
    return this.#streams.size
  }

  /** No more streams after those the client has opened by now, and those on their way. */
  drain(): void {
    if (this.#draining || this.#isOver) return
    this.#draining = true
    this.#options.deadlines.set(this.#lastCall, ROUND_TRIP_MS)
    // The client answers the ping once it knows that it should open no more streams.
    this.output.frames(frames.goawayFrame(frames.LARGEST_WINDOW, frames.NO_ERROR) + frames.pingFrame(DRAIN_PING, 0))
    this.flush()
  }

  #sayLast(): void {
    if (this.#isOver || this.#lastAnswered !== frames.LARGEST_WINDOW) return
    this.#lastAnswered = this.#lastStream
    this.output.frames(frames.goawayFrame(this.#lastStream, frames.NO_ERROR))
    this.flush()
    this.#leaveIfDone()
  }

  /** Came while the gateway drains: what it asks in that time is answered. */
  drainSoon(milliseconds: number): void {
    this.#options.deadlines.set(this.#lifetime, milliseconds)
  }

  destroy(cause: Error): void {
    if (this.#isOver) return
    this.#cause = cause
    // A response that breaks off must not look whole.
    const code = this.#streams.size === 0 ? frames.NO_ERROR : frames.INTERNAL_ERROR
    this.output.frames(frames.goawayFrame(this.#lastStream, code))
    this.#giveUp()
    if (this.#socket.writableNeedDrain) this.#socket.destroy()
    else this.#socket.destroySoon()
  }

  // What exchanges ask for.

  flush(): void {
    if (this.#isFeeding || this.#isOver) return
    // A stream that is alone waits for no other.
    if (this.#streams.size <= 1) this.output.flush()
    else this.output.flushSoon()
  }

  grant(stream: number, bytes: number): void {
    this.output.frames(frames.windowUpdateFrame(stream, bytes))
  }

  ended(exchange: Http2Exchange): void {
    this.#streams.delete(exchange.output.id)
    this.output.forget(exchange.output)
    if (exchange.closed(this.#cause)) this.#resets.completed()
    else this.#countReset()
    if (this.#streams.size > 0) return
    this.#idleSince = performance.now()
    this.#leaveIfDone()
  }

  reset(exchange: Http2Exchange, code: number): void {
    if (!exchange.inputEnded) this.#rememberCutOff(exchange.output.id)
    this.output.frames(frames.resetFrame(exchange.output.id, code))
    this.ended(exchange)
    // Whoever makes this side reset streams costs it as much as one who resets them.
    if (code !== frames.NO_ERROR && code !== frames.INTERNAL_ERROR) this.#countReset()
    this.flush()
  }

  // Bytes.

  readonly #onGlance = (bytes: Buffer, length: number): boolean => {
    if (length > SHORT_READ) return false
    this.#isShared = true
    this.#feed(bytes, length)
    this.#isShared = false
    return true
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#feed(chunk, chunk.length)
  }

  #feed(bytes: Buffer, length: number): void {
    if (this.#isOver) return
    this.#isFeeding = true
    const start = this.#prefaceSeen < frames.PREFACE.length ? this.#readPreface(bytes, length) : 0
    this.#frames.feed(bytes, start, length)
    this.#isFeeding = false
    if (this.#isOver) return
    this.output.flush()
    this.#adjustReading()
  }

  #readPreface(bytes: Buffer, length: number): number {
    const taken = Math.min(length, frames.PREFACE.length - this.#prefaceSeen)
    const isSame = bytes.compare(frames.PREFACE, this.#prefaceSeen, this.#prefaceSeen + taken, 0, taken) === 0
    this.#prefaceSeen += taken
    if (!isSame) this.#fail(frames.PROTOCOL_ERROR)
    return taken
  }

  /** A client that asks and does not read must not fill our memory with answers. */
  #adjustReading(): void {
    const pause = this.output.unsent > MAX_UNSENT
    if (pause === this.#readPaused) return
    this.#readPaused = pause
    if (pause) this.#socket.pause()
    else this.#socket.resume()
  }

  readonly #onDrain = (): void => {
    if (this.#isOver) return
    this.output.pump()
    this.output.flush()
    this.#adjustReading()
  }

  /** A client that sends no more can open no stream, nor widen a window. */
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
    this.#options.onClosed(this)
  }

  // Frames.

  frameTooLong(): void {
    this.#fail(frames.FRAME_SIZE_ERROR)
  }

  frame(type: number, flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (this.#block !== null && (type !== frames.CONTINUATION || stream !== this.#block.stream)) {
      return this.#fail(frames.PROTOCOL_ERROR)
    }
    if (!this.#hasSettings && type !== frames.SETTINGS) return this.#fail(frames.PROTOCOL_ERROR)
    switch (type) {
      case frames.DATA:
        return this.#takeData(flags, stream, bytes, start, end)
      case frames.HEADERS:
        return this.#takeHeaders(flags, stream, bytes, start, end)
      case frames.CONTINUATION:
        return this.#takeContinuation(flags, bytes, start, end)
      case frames.RST_STREAM:
        return this.#takeReset(stream, end - start)
      case frames.SETTINGS:
        return this.#takeSettings(flags, stream, bytes, start, end)
      case frames.PING:
        return this.#takePing(flags, stream, bytes, start, end)
      case frames.WINDOW_UPDATE:
        return this.#takeWindowUpdate(stream, bytes, start, end)
      case frames.GOAWAY:
        return this.#takeGoaway(stream, end - start)
      case frames.PRIORITY:
        return this.#takePriority(stream, bytes, start, end)
      case frames.PUSH_PROMISE:
        // Clients do not push.
        return this.#fail(frames.PROTOCOL_ERROR)
      default:
        return this.#countIdle()
    }
  }

  #takeData(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    const size = end - start
    this.#window -= size
    if (this.#window < 0) return this.#fail(frames.FLOW_CONTROL_ERROR)
    this.#giveBack(size)
    const isPadded = (flags & frames.PADDED) !== 0
    const padding = isPadded ? (bytes[start] ?? 0) + 1 : 0
    if (padding > size) return this.#fail(frames.PROTOCOL_ERROR)
    const ends = (flags & frames.END_STREAM) !== 0
    const exchange = this.#streams.get(stream)
    if (exchange === undefined) return this.#takeLate(stream, ends, frames.STREAM_CLOSED)
    if (exchange.inputEnded) return this.reset(exchange, frames.STREAM_CLOSED)
    const isEmpty = padding === size
    if (isEmpty && !ends) this.#countIdle()
    else this.#guard.useful()
    const data = bytes.subarray(start + (isPadded ? 1 : 0), end - padding + (isPadded ? 1 : 0))
    spentBuffers.count(data.length)
    if (!exchange.takeData(this.#isShared ? Buffer.from(data) : data, padding, ends)) {
      this.reset(exchange, frames.FLOW_CONTROL_ERROR)
    }
  }

  #giveBack(bytes: number): void {
    this.#consumed += bytes
    if (this.#consumed * 2 < this.#options.connectionWindowSize) return
    this.grant(0, this.#consumed)
    this.#window += this.#consumed
    this.#consumed = 0
  }

  /** A frame for a stream that is not open. What was on its way when this side ended it is dropped. */
  #takeLate(stream: number, ends: boolean, code: number): void {
    if (stream > this.#lastAnswered) return this.#countIdle()
    if (stream === 0 || stream % 2 === 0 || stream > this.#lastStream) return this.#fail(frames.PROTOCOL_ERROR)
    if (!this.#cutOff.has(stream)) return this.#fail(code)
    if (ends) this.#cutOff.delete(stream)
  }

  #takeHeaders(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    let from = start
    let to = end
    if ((flags & frames.PADDED) !== 0) to -= bytes[from++] ?? 0
    if ((flags & frames.PRIORITIZED) !== 0) from += PRIORITY_SIZE
    if (from > to || from > end || stream === 0) return this.#fail(frames.PROTOCOL_ERROR)
    const dependsOnItself =
      (flags & frames.PRIORITIZED) !== 0 && (bytes.readUInt32BE(from - PRIORITY_SIZE) & MAX_STREAM) === stream
    if (dependsOnItself) return this.#fail(frames.PROTOCOL_ERROR)
    if ((flags & frames.END_HEADERS) !== 0) return this.#takeFields(flags, stream, bytes, from, to)
    this.#block = new FieldBlock(stream, flags, this.#maxBlock)
    if (!this.#block.add(bytes, from, to)) this.#fail(frames.ENHANCE_YOUR_CALM)
  }

  #takeContinuation(flags: number, bytes: Buffer, start: number, end: number): void {
    const block = this.#block
    if (block === null) return this.#fail(frames.PROTOCOL_ERROR)
    if (!block.add(bytes, start, end)) return this.#fail(frames.ENHANCE_YOUR_CALM)
    if ((flags & frames.END_HEADERS) === 0) return
    this.#block = null
    const whole = block.bytes
    this.#takeFields(block.flags, block.stream, whole, 0, whole.length)
  }

  /** A whole block: of a request, of trailers, or of a stream that is no more. It is decoded in any case, for the table. */
  #takeFields(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    const ends = (flags & frames.END_STREAM) !== 0
    const exchange = this.#streams.get(stream)
    if (exchange !== undefined) return this.#takeTrailers(exchange, ends, bytes, start, end)
    if (stream <= this.#lastStream || stream % 2 === 0 || stream > this.#lastAnswered) {
      if (this.#decode(bytes, start, end, NOBODY)) this.#takeLate(stream, ends, frames.STREAM_CLOSED)
      return
    }
    this.#lastStream = stream
    const fields = new Fields()
    if (!this.#decode(bytes, start, end, fields)) return
    this.#guard.useful()
    if (this.#streams.size >= this.#options.maxStreams) return this.#refuse(stream, ends, frames.REFUSED_STREAM)
    if (this.#decoder.count > MAX_FIELDS) return this.#refuse(stream, ends, frames.ENHANCE_YOUR_CALM)
    const head = this.#decoder.size > this.#options.maxHeaderSize ? HEAD_TOO_LARGE : fields.toHead(ends)
    if (head === MALFORMED) return this.#refuse(stream, ends, frames.PROTOCOL_ERROR)
    if (!(head instanceof RequestHead)) return this.#answerRefused(stream, ends, fields.method, head)
    const opened = new Http2Exchange(this, stream, head, this.#options.windowSize)
    this.#streams.set(stream, opened)
    this.#options.handler(opened)
  }

  #takeTrailers(exchange: Http2Exchange, ends: boolean, bytes: Buffer, start: number, end: number): void {
    const fields = new TrailerFields()
    if (!this.#decode(bytes, start, end, fields)) return
    if (exchange.inputEnded) return this.reset(exchange, frames.STREAM_CLOSED)
    const isTooLarge = this.#decoder.size > this.#options.maxHeaderSize || this.#decoder.count > MAX_FIELDS
    if (!ends || fields.isMalformed) this.reset(exchange, frames.PROTOCOL_ERROR)
    else if (isTooLarge) this.reset(exchange, frames.ENHANCE_YOUR_CALM)
    else exchange.takeTrailers(fields.headers)
  }

  #decode(bytes: Buffer, start: number, end: number, sink: FieldSink): boolean {
    if (this.#decoder.decode(bytes, start, end, sink)) return true
    this.#fail(frames.COMPRESSION_ERROR)
    return false
  }

  /** A stream that begins and ends with a reset. */
  #refuse(stream: number, ends: boolean, code: number): void {
    if (!ends) this.#rememberCutOff(stream)
    this.output.frames(frames.resetFrame(stream, code))
    this.#countReset()
  }

  #answerRefused(stream: number, ends: boolean, method: string, { status, code }: HeadProblem): void {
    this.#options.onRefused(this.info, status, code)
    const body = Buffer.from(code.replaceAll('_', ' '))
    const answer = new StreamOutput(stream, NOBODY, this.output.firstWindow)
    const room = Math.min(this.output.window, answer.window)
    const bodyless = method === 'HEAD' || body.length > room
    this.output.headers(answer, refusalBlock(status, body.length), bodyless)
    if (!bodyless) this.output.end(answer, body, '')
    if (ends) return
    this.#rememberCutOff(stream)
    this.output.frames(frames.resetFrame(stream, frames.NO_ERROR))
  }

  #rememberCutOff(stream: number): void {
    this.#cutOff.add(stream)
    if (this.#cutOff.size <= MAX_CUT_OFF) return
    for (const oldest of this.#cutOff) {
      this.#cutOff.delete(oldest)
      return
    }
  }

  #takeReset(stream: number, length: number): void {
    if (length !== 4) return this.#fail(frames.FRAME_SIZE_ERROR)
    if (stream === 0 || (stream > this.#lastStream && stream <= this.#lastAnswered)) {
      return this.#fail(frames.PROTOCOL_ERROR)
    }
    this.#cutOff.delete(stream)
    const exchange = this.#streams.get(stream)
    if (exchange === undefined) return this.#countIdle()
    this.ended(exchange)
  }

  #takeSettings(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream !== 0) return this.#fail(frames.PROTOCOL_ERROR)
    if ((flags & frames.ACK) !== 0) {
      if (end > start) return this.#fail(frames.FRAME_SIZE_ERROR)
      return this.#hasSettings ? this.#countIdle() : this.#fail(frames.PROTOCOL_ERROR)
    }
    const settings = readSettings(bytes, start, end)
    if (typeof settings === 'number') return this.#fail(settings)
    this.#hasSettings = true
    this.#countIdle()
    const { output } = this
    if (settings.headerTableSize !== undefined && settings.headerTableSize < TABLE_SIZE) output.mustDropTable = true
    if (settings.maxFrameSize !== undefined) output.maxFrame = Math.min(settings.maxFrameSize, LARGEST_SENT_FRAME)
    output.frames(SETTINGS_ACK)
    if (settings.initialWindowSize === undefined) return
    const change = settings.initialWindowSize - output.firstWindow
    output.firstWindow = settings.initialWindowSize
    for (const exchange of this.#streams.values()) {
      exchange.output.window += change
      if (exchange.output.window > frames.LARGEST_WINDOW) return this.#fail(frames.FLOW_CONTROL_ERROR)
      if (change > 0) output.wake(exchange.output)
    }
    output.pump()
  }

  #takePing(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream !== 0) return this.#fail(frames.PROTOCOL_ERROR)
    if (end - start !== 8) return this.#fail(frames.FRAME_SIZE_ERROR)
    this.#countIdle()
    const payload = latin1(bytes, start, end)
    if ((flags & frames.ACK) === 0) return this.output.frames(frames.pingFrame(payload, frames.ACK))
    if (payload === DRAIN_PING && this.#draining) return this.#sayLast()
    if (payload !== KEEPALIVE_PING || !this.#pingOutstanding) return
    this.#pingOutstanding = false
    this.#options.deadlines.set(this.#keepalive, this.#options.keepaliveIntervalMs)
  }

  #takeWindowUpdate(stream: number, bytes: Buffer, start: number, end: number): void {
    if (end - start !== 4) return this.#fail(frames.FRAME_SIZE_ERROR)
    this.#countIdle()
    const increment = bytes.readUInt32BE(start) & MAX_STREAM
    const { output } = this
    if (stream === 0) {
      if (increment === 0) return this.#fail(frames.PROTOCOL_ERROR)
      if (output.window + increment > frames.LARGEST_WINDOW) return this.#fail(frames.FLOW_CONTROL_ERROR)
      output.widen(increment)
      return output.pump()
    }
    const exchange = this.#streams.get(stream)
    if (exchange === undefined) {
      if (stream > this.#lastStream && stream <= this.#lastAnswered) this.#fail(frames.PROTOCOL_ERROR)
      return
    }
    if (increment === 0) return this.reset(exchange, frames.PROTOCOL_ERROR)
    exchange.output.window += increment
    if (exchange.output.window > frames.LARGEST_WINDOW) return this.reset(exchange, frames.FLOW_CONTROL_ERROR)
    output.wake(exchange.output)
    output.pump()
  }

  /** The client opens no more streams, and waits for those it has. */
  #takeGoaway(stream: number, length: number): void {
    if (stream !== 0) return this.#fail(frames.PROTOCOL_ERROR)
    if (length < 8) return this.#fail(frames.FRAME_SIZE_ERROR)
    this.#countIdle()
    this.#peerLeaves = true
    this.#leaveIfDone()
  }

  /** RFC 9113 has no priorities any more; only the form of the frame counts. */
  #takePriority(stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream === 0) return this.#fail(frames.PROTOCOL_ERROR)
    if (end - start !== PRIORITY_SIZE) return this.#fail(frames.FRAME_SIZE_ERROR)
    if ((bytes.readUInt32BE(start) & MAX_STREAM) === stream) return this.#fail(frames.PROTOCOL_ERROR)
    this.#countIdle()
  }

  // Ends.

  #countReset(): void {
    if (this.#isOver || !this.#resets.reset(performance.now())) return
    this.#options.onRefused(this.info, 0, 'too_many_resets')
    this.#cause = new Error('client resets too many streams')
    this.#fail(frames.ENHANCE_YOUR_CALM)
  }

  #countIdle(): void {
    const { dataFrames } = this.output
    for (; this.#dataFramesSeen < dataFrames; this.#dataFramesSeen++) this.#guard.useful()
    if (this.#isOver || !this.#guard.idle(performance.now())) return
    this.#options.onRefused(this.info, 0, 'too_many_frames')
    this.#cause = new Error('client sends too many frames for nothing')
    this.#fail(frames.ENHANCE_YOUR_CALM)
  }

  /** The client has broken the protocol: nothing that it sends can be relied on. */
  #fail(code: number): void {
    if (this.#isOver) return
    this.output.frames(frames.goawayFrame(this.#lastStream, code))
    this.#giveUp()
    this.#linger()
  }

  #leaveIfDone(): void {
    if (this.#isOver || this.#streams.size > 0) return
    if (!this.#peerLeaves && this.#lastAnswered === frames.LARGEST_WINDOW) return
    this.#giveUp()
    this.#linger()
  }

  /** No stream is served any more; what was gathered is written. */
  #giveUp(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#frames.stop()
    if (!this.#socket.destroyed) this.output.flush()
    for (const exchange of this.#streams.values()) {
      this.output.forget(exchange.output)
      exchange.closed(this.#cause)
    }
    this.#streams.clear()
    this.#reader.release()
    this.#socket.off('end', this.#onEnd)
  }

  #linger(): void {
    lingeringClose(this.#socket, this.#options.deadlines)
  }

  /** Now and then instead of a timer per stream. */
  #look(): void {
    const { deadlines, idleTimeoutMs, stallTimeoutMs } = this.#options
    const now = performance.now()
    const elapsed = now - this.#lookedAt
    this.#lookedAt = now
    if (this.#isOver) return
    if (this.#streams.size === 0 && now - this.#idleSince >= idleTimeoutMs) this.drain()
    for (const exchange of this.#streams.values()) {
      if (exchange.isStalled(elapsed, this.#options)) exchange.reset(STALLED)
    }
    const isStuck = this.output.unsent > 0 && this.output.taken === this.#takenBefore
    this.#takenBefore = this.output.taken
    this.#stuckMs = isStuck || this.#block !== null ? this.#stuckMs + elapsed : 0
    if (this.#stuckMs >= (this.#block === null ? idleTimeoutMs : stallTimeoutMs)) return this.destroy(STALLED)
    deadlines.set(this.#watch, this.#watchMs)
  }

  #keepaliveDue(): void {
    if (this.#isOver) return
    if (this.#pingOutstanding) return this.destroy(new Error('client does not answer pings'))
    this.#pingOutstanding = true
    this.#options.deadlines.set(this.#keepalive, this.#options.keepaliveTimeoutMs)
    this.output.frames(frames.pingFrame(KEEPALIVE_PING, 0))
    this.flush()
  }
}

function ignore(): void {}

const NOBODY = { field: ignore, outputDrained: ignore, outputEnded: ignore }
const CLIENT_LEFT = new Error('client closed the stream or the connection')
const STALLED = new Error('client neither sends nor takes data')
const SETTINGS_ACK = frames.frameHead(0, frames.SETTINGS, frames.ACK, 0)
const KEEPALIVE_PING = 'keep-up?'
const DRAIN_PING = 'draining'
const MAX_FIELDS = 256
const MAX_STREAM = 2 ** 31 - 1
const PRIORITY_SIZE = 5
/** Streams ended by this side that the client may not know of yet. */
const MAX_CUT_OFF = 1_000
/** Of a read that is looked at where it lies. */
const SHORT_READ = 4096
/** Beyond it nothing is read from a client until it takes some of its answers. */
const MAX_UNSENT = 1_048_576
const LARGEST_SENT_FRAME = 65_536
/** For the answer to the ping of a drain. */
const ROUND_TRIP_MS = 1_000
