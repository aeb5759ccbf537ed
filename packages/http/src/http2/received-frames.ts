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

/** The receiver of a stream's frames. */
export interface FrameStream {
  readonly output: StreamOutput
  /** Whether the peer has ended its side of the stream. */
  readonly inputEnded: boolean
  /** `padding` counts only for the window. Returns false when the peer exceeds its window. */
  takeData(chunk: Buffer, padding: number, ends: boolean): boolean
}

/** The effects of a peer's frames on its connection. */
export interface FrameHost<Stream> {
  readonly output: FrameOutput
  /** In milliseconds. */
  now(): number
  /** Lets the peer send this many more bytes, on a stream or, for 0, on the connection. */
  grant(stream: number, bytes: number): void
  /** Called when the peer violated the protocol on a stream, which is reset with the code. */
  broke(stream: Stream, code: number): void
  /** Called when the peer violated the protocol on the connection; the code is sent with GOAWAY. */
  fail(code: number): void
  tooManyFrames(): void
  pingAnswered(payload: string): void
}

interface ReceiveLimits {
  connectionWindowSize: number
  maxHeaderSize: number
  maxFields: number
}

/**
 * The longest field block that is read. A block slightly above the head limit still gets a response; a block above this
 * size ends the connection.
 */
export function maxBlockSize(maxHeaderSize: number): number {
  return 2 * maxHeaderSize + frames.SMALLEST_MAX_FRAME
}

/** Processes the frames of a peer (RFC 9113 section 6): everything that servers and clients have in common. */
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
  /** The window of the connection, for all streams together. */
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

  /** Called when the block in `heads` is complete. */
  protected abstract takeBlock(stream: number, ends: boolean): void
  protected abstract takeReset(stream: Stream, code: number): void
  protected abstract takeGoaway(lastStream: number, code: number): void
  /** Called after the settings were applied to the output. */
  protected abstract takeSettings(settings: PeerSettings): void
  /**
   * Called for a frame of a stream that is not open. A frame that was in flight when this side ended the stream is
   * dropped.
   */
  protected abstract takeLate(stream: number, ends: boolean, isSmall: boolean): void
  /** The largest ENABLE_PUSH value that the peer may send. */
  protected abstract readonly largestPush: 0 | 1

  /** Whether a head has begun, so that the peer may send only its continuation. */
  get isInsideHead(): boolean {
    return !this.heads.isWhole
  }

  /** Whether the peer's first SETTINGS frame has arrived. */
  get hasSettings(): boolean {
    return this.#hasSettings
  }

  /** Whether the last block has too many fields. */
  protected get hasTooManyFields(): boolean {
    return this.#decoder.count > this.#limits.maxFields
  }

  /** Whether the last block is too large. */
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
        // Clients must not push, and this side disables push of backends.
        return this.host.fail(frames.PROTOCOL_ERROR)
      default:
        return this.countIdle()
    }
  }

  #takeData(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    const size = end - start
    if (!this.#window.take(size)) return this.host.fail(frames.FLOW_CONTROL_ERROR)
    // The connection's window is returned at once: each stream has its own window, which is returned as its body is
    // consumed.
    const granted = this.#window.release(size)
    if (granted !== 0) this.host.grant(0, granted)
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
    // A small piece that is kept must not keep a large read or a pool block alive.
    const data = piece.length * MOST_KEPT < bytes.length ? ownCopy(piece) : piece
    if (!open.takeData(data, padding, ends)) this.host.broke(open, frames.FLOW_CONTROL_ERROR)
  }

  #takeHead(type: number, flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    const { heads } = this
    const code = heads.take(type, flags, stream, bytes, start, end)
    if (code !== frames.NO_ERROR) return this.host.fail(code)
    if (heads.isWhole) this.takeBlock(stream, (heads.flags & frames.END_STREAM) !== 0)
  }

  /** Every block is decoded, even if it is dropped, because later blocks may refer to its table entries. */
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

  /** Returns false when a window would exceed the maximum. */
  #changeWindows(size: number): boolean {
    const { output } = this
    const change = size - output.firstWindow
    output.firstWindow = size
    for (const stream of this.streams.open.list()) {
      stream.output.window += change
      if (stream.output.window > frames.LARGEST_WINDOW) {
        this.host.fail(frames.FLOW_CONTROL_ERROR)
        return false
      }
      output.wake(stream.output)
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

  /** RFC 9113 deprecates priorities; only the form of the frame is checked. */
  #takePriority(stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream === 0) return this.host.fail(frames.PROTOCOL_ERROR)
    if (end - start !== PRIORITY_SIZE) return this.host.fail(frames.FRAME_SIZE_ERROR)
    if (dependencyAt(bytes, start) === stream) return this.host.fail(frames.PROTOCOL_ERROR)
    this.countIdle()
  }

  /** Counts a useless frame; too many of them end the connection. */
  protected countIdle(): void {
    const { bodyBytes } = this.output
    // Useful work is counted in bytes: a peer that extends its window byte by byte gains nothing.
    this.guard.useful((bodyBytes - this.#bodyBytesSeen) / USEFUL_BYTES)
    this.#bodyBytesSeen = bodyBytes
    if (this.guard.idle(this.host.now())) this.host.tooManyFrames()
  }
}

function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

const SETTINGS_ACK = frames.frameHead(0, frames.SETTINGS, frames.ACK, 0)
/** DATA for a closed stream below this size counts as useless; larger frames cost the peer as much as this side. */
const SMALL = 512
/** A piece may keep a read alive that is at most this many times larger. */
const MOST_KEPT = 32
/** Bytes of a sent body that count as much as one frame of a request. */
const USEFUL_BYTES = 2_048
const LARGEST_SENT_FRAME = 65_536
