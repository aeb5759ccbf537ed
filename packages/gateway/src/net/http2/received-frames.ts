import { performance } from 'node:perf_hooks'
import { latin1 } from '../http1/chars.ts'
import type { HeadProblem } from '../http1/head.ts'
import { FrameGuard } from './frame-guard.ts'
import type { FrameReceiver } from './frame-reader.ts'
import * as frames from './frames.ts'
import { dependencyAt, HeadFrames, PRIORITY_SIZE } from './head-frames.ts'
import { type FieldSink, HpackDecoder } from './hpack/decode.ts'
import { TABLE_SIZE } from './hpack/tables.ts'
import { type FrameOutput, StreamOutput } from './output.ts'
import { readSettings } from './peer-settings.ts'
import { ReceiveWindow } from './receive-window.ts'
import { Fields, HEAD_TOO_LARGE, MALFORMED, RequestHead, TrailerFields } from './request-head.ts'
import { refusalBlock } from './response-head.ts'
import { type ExchangeHost, Http2Exchange } from './server-exchange.ts'
import type { StreamTable } from './stream-table.ts'

/** What the frames of a client may bring about on its connection. */
export interface ReceivedFramesHost extends ExchangeHost {
  /** A request is to be answered. */
  opened(exchange: Http2Exchange): void
  /** One was refused, by an answer. */
  refused(status: number, code: string): void
  /** One was reset, because its head is none. */
  resetUnread(code: string): void
  /** The client has broken the protocol; the code goes with GOAWAY. */
  fail(code: number): void
  /** A stream came to nothing by what the client did. */
  countReset(): void
  tooManyFrames(): void
  pingAnswered(payload: string): void
  /** The client opens no more streams. */
  peerLeaves(): void
}

export interface ReceiveLimits {
  windowSize: number
  largestWindowSize: number
  connectionWindowSize: number
  maxHeaderSize: number
  maxStreams: number
}

/** The longest block of fields that is read. One over the limit of heads is, to be answered; one far beyond ends the connection. */
export function maxBlockSize(maxHeaderSize: number): number {
  return 2 * maxHeaderSize + frames.SMALLEST_MAX_FRAME
}

/** Does what the frames of a client say (RFC 9113 section 6). */
export class ReceivedFrames implements FrameReceiver {
  readonly #host: ReceivedFramesHost
  readonly #output: FrameOutput
  readonly #streams: StreamTable
  readonly #limits: ReceiveLimits
  readonly #heads: HeadFrames
  readonly #decoder: HpackDecoder
  readonly #guard = new FrameGuard()
  /** On all streams together. */
  readonly #window: ReceiveWindow
  #hasSettings = false
  #bodyBytesSeen = 0

  constructor(host: ReceivedFramesHost, streams: StreamTable, limits: ReceiveLimits) {
    this.#host = host
    this.#output = host.output
    this.#streams = streams
    this.#limits = limits
    this.#heads = new HeadFrames(maxBlockSize(limits.maxHeaderSize))
    this.#decoder = new HpackDecoder({ maxSize: limits.maxHeaderSize, maxFields: MAX_FIELDS })
    this.#window = new ReceiveWindow(limits.connectionWindowSize)
  }

  /** A head has begun, and the client may send nothing but its rest. */
  get isInsideHead(): boolean {
    return !this.#heads.isWhole
  }

  /** The client's first SETTINGS have come. */
  get hasSettings(): boolean {
    return this.#hasSettings
  }

  frameTooLong(): void {
    this.#host.fail(frames.FRAME_SIZE_ERROR)
  }

  frame(type: number, flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (!this.#heads.allows(type, stream)) return this.#host.fail(frames.PROTOCOL_ERROR)
    if (!this.#hasSettings && type !== frames.SETTINGS) return this.#host.fail(frames.PROTOCOL_ERROR)
    switch (type) {
      case frames.DATA:
        return this.#takeData(flags, stream, bytes, start, end)
      case frames.HEADERS:
      case frames.CONTINUATION:
        return this.#takeHead(type, flags, stream, bytes, start, end)
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
        return this.#host.fail(frames.PROTOCOL_ERROR)
      default:
        return this.#countIdle()
    }
  }

  #takeData(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    const size = end - start
    if (!this.#window.take(size)) return this.#host.fail(frames.FLOW_CONTROL_ERROR)
    // At once: each stream has a window of its own, which is given back as its body is taken.
    const granted = this.#window.release(size)
    if (granted > 0) this.#host.grant(0, granted)
    const isPadded = (flags & frames.PADDED) !== 0
    const padding = isPadded ? (bytes[start] ?? 0) + 1 : 0
    if (padding > size) return this.#host.fail(frames.PROTOCOL_ERROR)
    const ends = (flags & frames.END_STREAM) !== 0
    const exchange = this.#streams.open.get(stream)
    if (exchange === undefined) return this.#takeLate(stream, ends, size < SMALL)
    if (exchange.inputEnded) return this.#host.reset(exchange, frames.STREAM_CLOSED, BROKEN)
    const isEmpty = padding === size
    if (isEmpty && !ends) this.#countIdle()
    else this.#guard.useful()
    const from = isPadded ? start + 1 : start
    const piece = bytes.subarray(from, from + size - padding)
    // A small piece that somebody keeps must not keep a large read, nor a block of the pool.
    const data = piece.length * MOST_KEPT < bytes.length ? ownCopy(piece) : piece
    if (!exchange.takeData(data, padding, ends)) this.#host.reset(exchange, frames.FLOW_CONTROL_ERROR, BROKEN)
  }

  /** A frame for a stream that is not open. What was on its way when this side ended it is dropped. */
  #takeLate(stream: number, ends: boolean, isSmall: boolean): void {
    const code = this.#streams.late(stream, ends)
    if (code !== frames.NO_ERROR) this.#host.fail(code)
    else if (isSmall) this.#countIdle()
  }

  #takeHead(type: number, flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    const heads = this.#heads
    const code = heads.take(type, flags, stream, bytes, start, end)
    if (code !== frames.NO_ERROR) return this.#host.fail(code)
    if (!heads.isWhole) return
    const ends = (heads.flags & frames.END_STREAM) !== 0
    const exchange = this.#streams.open.get(stream)
    if (exchange !== undefined) return this.#takeTrailers(exchange, ends)
    if (this.#streams.isNew(stream)) return this.#open(stream, ends)
    if (this.#decode(NOBODY)) this.#takeLate(stream, ends, true)
  }

  #open(stream: number, ends: boolean): void {
    const { maxStreams, maxHeaderSize } = this.#limits
    const streams = this.#streams
    streams.last = stream
    const fields = new Fields()
    if (!this.#decode(fields)) return
    if (streams.open.size >= maxStreams) {
      this.#refuse(stream, ends, frames.REFUSED_STREAM)
      return this.#countIdle()
    }
    this.#guard.useful()
    const { count, size } = this.#decoder
    const head = size > maxHeaderSize ? HEAD_TOO_LARGE : fields.toHead(ends)
    if (count > MAX_FIELDS || head === MALFORMED) {
      const isLong = count > MAX_FIELDS
      this.#refuse(stream, ends, isLong ? frames.ENHANCE_YOUR_CALM : frames.PROTOCOL_ERROR)
      this.#host.resetUnread(isLong ? 'too_many_headers' : 'malformed_head')
      return this.#host.countReset()
    }
    if (!(head instanceof RequestHead)) return this.#answerRefused(stream, ends, fields.method, head)
    const exchange = new Http2Exchange(this.#host, stream, head, this.#limits)
    streams.open.set(stream, exchange)
    this.#host.opened(exchange)
  }

  #takeTrailers(exchange: Http2Exchange, ends: boolean): void {
    const fields = new TrailerFields()
    if (!this.#decode(fields)) return
    if (exchange.inputEnded) return this.#host.reset(exchange, frames.STREAM_CLOSED, BROKEN)
    const isTooLarge = this.#decoder.size > this.#limits.maxHeaderSize || this.#decoder.count > MAX_FIELDS
    if (!ends || fields.isMalformed) this.#host.reset(exchange, frames.PROTOCOL_ERROR, BROKEN)
    else if (isTooLarge) this.#host.reset(exchange, frames.ENHANCE_YOUR_CALM, BROKEN)
    else exchange.takeTrailers(fields.headers)
  }

  /** Every block is decoded, whatever becomes of it: those that follow may name what it put into the table. */
  #decode(sink: FieldSink): boolean {
    const { bytes, start, end } = this.#heads
    if (this.#decoder.decode(bytes, start, end, sink)) return true
    this.#host.fail(frames.COMPRESSION_ERROR)
    return false
  }

  /** A stream that begins and ends with a reset. */
  #refuse(stream: number, ends: boolean, code: number): void {
    if (!ends) this.#streams.cutOff(stream)
    this.#output.frames(frames.resetFrame(stream, code))
  }

  #answerRefused(stream: number, ends: boolean, method: string, { status, code }: HeadProblem): void {
    this.#host.refused(status, code)
    const body = Buffer.from(code.replaceAll('_', ' '))
    const answer = new StreamOutput(stream, NOBODY, this.#output.firstWindow)
    // The text is a courtesy: nobody waits for a window to send it.
    const bodyless = method === 'HEAD' || !this.#output.fits(answer, body.length)
    this.#output.headers(answer, refusalBlock(status, body.length), bodyless)
    if (!bodyless) this.#output.end(answer, body, '')
    if (!ends) this.#refuse(stream, ends, frames.NO_ERROR)
  }

  #takeReset(stream: number, length: number): void {
    if (length !== 4) return this.#host.fail(frames.FRAME_SIZE_ERROR)
    if (stream === 0 || this.#streams.isIdle(stream)) return this.#host.fail(frames.PROTOCOL_ERROR)
    this.#streams.forget(stream)
    const exchange = this.#streams.open.get(stream)
    if (exchange === undefined) return this.#countIdle()
    this.#host.ended(exchange)
  }

  #takeSettings(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream !== 0) return this.#host.fail(frames.PROTOCOL_ERROR)
    if ((flags & frames.ACK) !== 0) {
      if (end > start) return this.#host.fail(frames.FRAME_SIZE_ERROR)
      return this.#hasSettings ? this.#countIdle() : this.#host.fail(frames.PROTOCOL_ERROR)
    }
    const settings = readSettings(bytes, start, end)
    if (typeof settings === 'number') return this.#host.fail(settings)
    this.#hasSettings = true
    this.#countIdle()
    const output = this.#output
    if (settings.headerTableSize !== undefined && settings.headerTableSize < TABLE_SIZE) output.mustDropTable = true
    if (settings.maxFrameSize !== undefined) output.maxFrame = Math.min(settings.maxFrameSize, LARGEST_SENT_FRAME)
    output.frames(SETTINGS_ACK)
    if (settings.initialWindowSize === undefined) return
    const change = settings.initialWindowSize - output.firstWindow
    output.firstWindow = settings.initialWindowSize
    for (const exchange of this.#streams.open.values()) {
      exchange.output.window += change
      if (exchange.output.window > frames.LARGEST_WINDOW) return this.#host.fail(frames.FLOW_CONTROL_ERROR)
      if (change > 0) output.wake(exchange.output)
    }
  }

  #takePing(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream !== 0) return this.#host.fail(frames.PROTOCOL_ERROR)
    if (end - start !== 8) return this.#host.fail(frames.FRAME_SIZE_ERROR)
    this.#countIdle()
    const payload = latin1(bytes, start, end)
    if ((flags & frames.ACK) === 0) return this.#output.frames(frames.pingFrame(payload, frames.ACK))
    this.#host.pingAnswered(payload)
  }

  #takeWindowUpdate(stream: number, bytes: Buffer, start: number, end: number): void {
    if (end - start !== 4) return this.#host.fail(frames.FRAME_SIZE_ERROR)
    this.#countIdle()
    const increment = bytes.readUInt32BE(start) & frames.LARGEST_WINDOW
    const output = this.#output
    if (stream === 0) {
      if (increment === 0) return this.#host.fail(frames.PROTOCOL_ERROR)
      if (output.window + increment > frames.LARGEST_WINDOW) return this.#host.fail(frames.FLOW_CONTROL_ERROR)
      return output.widen(increment)
    }
    const exchange = this.#streams.open.get(stream)
    if (exchange === undefined) {
      if (this.#streams.isIdle(stream)) this.#host.fail(frames.PROTOCOL_ERROR)
      return
    }
    if (increment === 0) return this.#host.reset(exchange, frames.PROTOCOL_ERROR, BROKEN)
    exchange.output.window += increment
    if (exchange.output.window > frames.LARGEST_WINDOW)
      return this.#host.reset(exchange, frames.FLOW_CONTROL_ERROR, BROKEN)
    output.wake(exchange.output)
  }

  /** The client opens no more streams, and waits for those it has. */
  #takeGoaway(stream: number, length: number): void {
    if (stream !== 0) return this.#host.fail(frames.PROTOCOL_ERROR)
    if (length < 8) return this.#host.fail(frames.FRAME_SIZE_ERROR)
    this.#countIdle()
    this.#host.peerLeaves()
  }

  /** RFC 9113 has no priorities any more; only the form of the frame counts. */
  #takePriority(stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream === 0) return this.#host.fail(frames.PROTOCOL_ERROR)
    if (end - start !== PRIORITY_SIZE) return this.#host.fail(frames.FRAME_SIZE_ERROR)
    if (dependencyAt(bytes, start) === stream) return this.#host.fail(frames.PROTOCOL_ERROR)
    this.#countIdle()
  }

  /** Too many frames that lead nowhere end the connection. */
  #countIdle(): void {
    const { bodyBytes } = this.#output
    // By bytes: a client that widens its window one by one gets nothing for it.
    this.#guard.useful((bodyBytes - this.#bodyBytesSeen) / USEFUL_BYTES)
    this.#bodyBytesSeen = bodyBytes
    if (this.#guard.idle(performance.now())) this.#host.tooManyFrames()
  }
}

function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

function ignore(): void {}

const NOBODY = { field: ignore, outputDrained: ignore, outputEnded: ignore }
const BROKEN = new Error('client broke the rules of HTTP/2')
const SETTINGS_ACK = frames.frameHead(0, frames.SETTINGS, frames.ACK, 0)
const MAX_FIELDS = 256
/** Of DATA that nobody waits for: more of it costs the client as much as this side. */
const SMALL = 512
/** A piece may keep a read so many times its size. */
const MOST_KEPT = 32
/** Of a response, that are worth as much as a frame of a request. */
const USEFUL_BYTES = 2_048
const LARGEST_SENT_FRAME = 65_536
