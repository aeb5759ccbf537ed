import { performance } from 'node:perf_hooks'
import { latin1 } from '../http1/chars.ts'
import { FrameGuard } from './frame-guard.ts'
import type { FrameReceiver } from './frame-reader.ts'
import * as frames from './frames.ts'
import { dependencyAt, HeadFrames, PRIORITY_SIZE } from './head-frames.ts'
import { type FieldSink, HpackDecoder } from './hpack/decode.ts'
import { TABLE_SIZE } from './hpack/tables.ts'
import type { FrameOutput, StreamOutput } from './output.ts'
import { type PeerSettings, readSettings } from './peer-settings.ts'
import { ReceiveWindow } from './receive-window.ts'
import type { StreamTable } from './stream-table.ts'

/** What the frames of a stream are handed to. */
export interface FrameStream {
  readonly output: StreamOutput
  /** The peer has sent the end of its side. */
  readonly inputEnded: boolean
  /** `padding` counts for the window and nothing else. False when the peer sends more than it may. */
  takeData(chunk: Buffer, padding: number, ends: boolean): boolean
}

/** What the frames of a peer may bring about on its connection. */
export interface FrameHost<Stream> {
  readonly output: FrameOutput
  /** Lets the peer send so many more bytes, on a stream or, for 0, on the connection. */
  grant(stream: number, bytes: number): void
  /** The peer has broken the protocol on a stream, which is reset with the code. */
  broke(stream: Stream, code: number): void
  /** The peer has broken the protocol; the code goes with GOAWAY. */
  fail(code: number): void
  tooManyFrames(): void
  pingAnswered(payload: string): void
}

export interface ReceiveLimits {
  connectionWindowSize: number
  maxHeaderSize: number
  maxFields: number
}

/** The longest block of fields that is read. One over the limit of heads is, to be answered; one far beyond ends the connection. */
export function maxBlockSize(maxHeaderSize: number): number {
  return 2 * maxHeaderSize + frames.SMALLEST_MAX_FRAME
}

/** Does what the frames of a peer say (RFC 9113 section 6): all that servers and clients have in common. */
export abstract class ReceivedFrames<
  Stream extends FrameStream,
  Host extends FrameHost<Stream>,
> implements FrameReceiver {
  protected readonly host: Host
  protected readonly output: FrameOutput
  protected readonly streams: StreamTable<Stream>
  protected readonly heads: HeadFrames
  protected readonly guard = new FrameGuard()
  readonly #limits: ReceiveLimits
  readonly #decoder: HpackDecoder
  /** On all streams together. */
  readonly #window: ReceiveWindow
  #hasSettings = false
  #bodyBytesSeen = 0

  constructor(host: Host, streams: StreamTable<Stream>, limits: ReceiveLimits) {
    this.host = host
    this.output = host.output
    this.streams = streams
    this.#limits = limits
    this.heads = new HeadFrames(maxBlockSize(limits.maxHeaderSize))
    this.#decoder = new HpackDecoder({ maxSize: limits.maxHeaderSize, maxFields: limits.maxFields })
    this.#window = new ReceiveWindow(limits.connectionWindowSize)
  }

  /** The block in `heads` is whole. */
  protected abstract takeBlock(stream: number, ends: boolean): void
  protected abstract takeReset(stream: Stream, code: number): void
  protected abstract takeGoaway(lastStream: number, code: number): void
  /** The settings are in force as far as they concern what is sent. */
  protected abstract takeSettings(settings: PeerSettings): void
  /** A frame for a stream that is not open. What was on its way when this side ended it is dropped. */
  protected abstract takeLate(stream: number, ends: boolean, isSmall: boolean): void
  /** The largest ENABLE_PUSH that the peer may send. */
  protected abstract readonly largestPush: 0 | 1

  /** A head has begun, and the peer may send nothing but its rest. */
  get isInsideHead(): boolean {
    return !this.heads.isWhole
  }

  /** The peer's first SETTINGS have come. */
  get hasSettings(): boolean {
    return this.#hasSettings
  }

  /** The last block has more fields than are borne. */
  protected get hasTooManyFields(): boolean {
    return this.#decoder.count > this.#limits.maxFields
  }

  /** The last block is larger than is borne. */
  protected get isTooLarge(): boolean {
    return this.#decoder.size > this.#limits.maxHeaderSize
  }

  frameTooLong(): void {
    this.host.fail(frames.FRAME_SIZE_ERROR)
  }

  frame(type: number, flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (!this.heads.allows(type, stream)) return this.host.fail(frames.PROTOCOL_ERROR)
    if (!this.#hasSettings && type !== frames.SETTINGS) return this.host.fail(frames.PROTOCOL_ERROR)
    switch (type) {
      case frames.DATA:
        return this.#takeData(flags, stream, bytes, start, end)
      case frames.HEADERS:
      case frames.CONTINUATION:
        return this.#takeHead(type, flags, stream, bytes, start, end)
      case frames.RST_STREAM:
        return this.#takeReset(stream, bytes, start, end)
      case frames.SETTINGS:
        return this.#takeSettings(flags, stream, bytes, start, end)
      case frames.PING:
        return this.#takePing(flags, stream, bytes, start, end)
      case frames.WINDOW_UPDATE:
        return this.#takeWindowUpdate(stream, bytes, start, end)
      case frames.GOAWAY:
        return this.#takeGoaway(stream, bytes, start, end)
      case frames.PRIORITY:
        return this.#takePriority(stream, bytes, start, end)
      case frames.PUSH_PROMISE:
        // Clients do not push, and backends are told not to.
        return this.host.fail(frames.PROTOCOL_ERROR)
      default:
        return this.countIdle()
    }
  }

  #takeData(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    const size = end - start
    if (!this.#window.take(size)) return this.host.fail(frames.FLOW_CONTROL_ERROR)
    // At once: each stream has a window of its own, which is given back as its body is taken.
    const granted = this.#window.release(size)
    if (granted > 0) this.host.grant(0, granted)
    const isPadded = (flags & frames.PADDED) !== 0
    const padding = isPadded ? (bytes[start] ?? 0) + 1 : 0
    if (padding > size) return this.host.fail(frames.PROTOCOL_ERROR)
    const ends = (flags & frames.END_STREAM) !== 0
    const open = this.streams.open.get(stream)
    if (open === undefined) return this.takeLate(stream, ends, size < SMALL)
    if (open.inputEnded) return this.host.broke(open, frames.STREAM_CLOSED)
    const isEmpty = padding === size
    if (isEmpty && !ends) this.countIdle()
    else this.guard.useful()
    const from = isPadded ? start + 1 : start
    const piece = bytes.subarray(from, from + size - padding)
    // A small piece that somebody keeps must not keep a large read, nor a block of the pool.
    const data = piece.length * MOST_KEPT < bytes.length ? ownCopy(piece) : piece
    if (!open.takeData(data, padding, ends)) this.host.broke(open, frames.FLOW_CONTROL_ERROR)
  }

  #takeHead(type: number, flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    const { heads } = this
    const code = heads.take(type, flags, stream, bytes, start, end)
    if (code !== frames.NO_ERROR) return this.host.fail(code)
    if (heads.isWhole) this.takeBlock(stream, (heads.flags & frames.END_STREAM) !== 0)
  }

  /** Every block is decoded, whatever becomes of it: those that follow may name what it put into the table. */
  protected decode(sink: FieldSink): boolean {
    const { bytes, start, end } = this.heads
    if (this.#decoder.decode(bytes, start, end, sink)) return true
    this.host.fail(frames.COMPRESSION_ERROR)
    return false
  }

  #takeReset(stream: number, bytes: Buffer, start: number, end: number): void {
    if (end - start !== 4) return this.host.fail(frames.FRAME_SIZE_ERROR)
    if (stream === 0 || this.streams.isIdle(stream)) return this.host.fail(frames.PROTOCOL_ERROR)
    this.streams.forget(stream)
    const open = this.streams.open.get(stream)
    if (open === undefined) return this.countIdle()
    this.takeReset(open, bytes.readUInt32BE(start))
  }

  #takeSettings(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream !== 0) return this.host.fail(frames.PROTOCOL_ERROR)
    if ((flags & frames.ACK) !== 0) {
      if (end > start) return this.host.fail(frames.FRAME_SIZE_ERROR)
      return this.#hasSettings ? this.countIdle() : this.host.fail(frames.PROTOCOL_ERROR)
    }
    const settings = readSettings(bytes, start, end, this.largestPush)
    if (typeof settings === 'number') return this.host.fail(settings)
    this.#hasSettings = true
    this.countIdle()
    const { output } = this
    if (settings.headerTableSize !== undefined && settings.headerTableSize < TABLE_SIZE) output.mustDropTable = true
    if (settings.maxFrameSize !== undefined) output.maxFrame = Math.min(settings.maxFrameSize, LARGEST_SENT_FRAME)
    output.frames(SETTINGS_ACK)
    if (settings.initialWindowSize !== undefined && !this.#changeWindows(settings.initialWindowSize)) return
    this.takeSettings(settings)
  }

  /** False when a window becomes larger than one may be. */
  #changeWindows(size: number): boolean {
    const { output } = this
    const change = size - output.firstWindow
    output.firstWindow = size
    for (const stream of this.streams.open.values()) {
      stream.output.window += change
      if (stream.output.window > frames.LARGEST_WINDOW) {
        this.host.fail(frames.FLOW_CONTROL_ERROR)
        return false
      }
      if (change > 0) output.wake(stream.output)
    }
    return true
  }

  #takePing(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream !== 0) return this.host.fail(frames.PROTOCOL_ERROR)
    if (end - start !== 8) return this.host.fail(frames.FRAME_SIZE_ERROR)
    this.countIdle()
    const payload = latin1(bytes, start, end)
    if ((flags & frames.ACK) === 0) return this.output.frames(frames.pingFrame(payload, frames.ACK))
    this.host.pingAnswered(payload)
  }

  #takeWindowUpdate(stream: number, bytes: Buffer, start: number, end: number): void {
    if (end - start !== 4) return this.host.fail(frames.FRAME_SIZE_ERROR)
    this.countIdle()
    const increment = bytes.readUInt32BE(start) & frames.LARGEST_WINDOW
    const { output } = this
    if (stream === 0) {
      if (increment === 0) return this.host.fail(frames.PROTOCOL_ERROR)
      if (output.window + increment > frames.LARGEST_WINDOW) return this.host.fail(frames.FLOW_CONTROL_ERROR)
      return output.widen(increment)
    }
    const open = this.streams.open.get(stream)
    if (open === undefined) {
      if (this.streams.isIdle(stream)) this.host.fail(frames.PROTOCOL_ERROR)
      return
    }
    if (increment === 0) return this.host.broke(open, frames.PROTOCOL_ERROR)
    open.output.window += increment
    if (open.output.window > frames.LARGEST_WINDOW) return this.host.broke(open, frames.FLOW_CONTROL_ERROR)
    output.wake(open.output)
  }

  #takeGoaway(stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream !== 0) return this.host.fail(frames.PROTOCOL_ERROR)
    if (end - start < 8) return this.host.fail(frames.FRAME_SIZE_ERROR)
    this.countIdle()
    this.takeGoaway(bytes.readUInt32BE(start) & frames.LARGEST_WINDOW, bytes.readUInt32BE(start + 4))
  }

  /** RFC 9113 has no priorities any more; only the form of the frame counts. */
  #takePriority(stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream === 0) return this.host.fail(frames.PROTOCOL_ERROR)
    if (end - start !== PRIORITY_SIZE) return this.host.fail(frames.FRAME_SIZE_ERROR)
    if (dependencyAt(bytes, start) === stream) return this.host.fail(frames.PROTOCOL_ERROR)
    this.countIdle()
  }

  /** Too many frames that lead nowhere end the connection. */
  protected countIdle(): void {
    const { bodyBytes } = this.output
    // By bytes: a peer that widens its window one by one gets nothing for it.
    this.guard.useful((bodyBytes - this.#bodyBytesSeen) / USEFUL_BYTES)
    this.#bodyBytesSeen = bodyBytes
    if (this.guard.idle(performance.now())) this.host.tooManyFrames()
  }
}

function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

const SETTINGS_ACK = frames.frameHead(0, frames.SETTINGS, frames.ACK, 0)
/** DATA that nobody waits for: larger frames cost the peer as much as this side. */
const SMALL = 512
/** A piece may keep a read so many times its size. */
const MOST_KEPT = 32
/** Bytes of a sent body that are worth as much as a frame of a request. */
const USEFUL_BYTES = 2_048
const LARGEST_SENT_FRAME = 65_536
