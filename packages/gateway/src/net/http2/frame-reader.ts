import { DATA, END_STREAM, FRAME_HEAD, PADDED } from './frames.ts'

export interface FrameReceiver {
  /** One frame, its payload from `start` to `end`. The bytes are valid during the call where the reader is told so. */
  frame(type: number, flags: number, stream: number, bytes: Buffer, start: number, end: number): void
  /** A frame longer than it may be; nothing is read after it. */
  frameTooLong(): void
}

export interface FrameLimits {
  /** Of DATA. */
  maxFrame: number
  /** Of any other frame, which has to be whole before it is looked at. */
  maxWhole: number
}

/**
 * Cuts a stream of bytes into frames. A frame other than DATA waits until it is whole; what has come of DATA is handed on
 * as a smaller frame, so that a body flows as it comes and no connection holds more than one frame.
 */
export class FrameReader {
  readonly #receiver: FrameReceiver
  readonly #limits: FrameLimits
  /** The beginning of a frame, and how much of it has come. */
  #partial: Buffer | null = null
  #filled = 0
  /** Of a DATA frame under way. */
  #dataLeft = 0
  #dataFlags = 0
  #dataStream = 0
  /** Whole frames handed on so far. */
  delivered = 0
  #stopped = false

  constructor(receiver: FrameReceiver, limits: FrameLimits) {
    this.#receiver = receiver
    this.#limits = limits
  }

  /** The bytes at hand end inside a frame that has to be whole. */
  get isInsideFrame(): boolean {
    return this.#partial !== null
  }

  /** Nothing more is read, not even of the bytes at hand. */
  stop(): void {
    this.#stopped = true
    this.#partial = null
  }

  feed(bytes: Buffer, start: number, end: number): void {
    let at = this.#partial === null ? start : this.#complete(bytes, start, end)
    while (at < end && !this.#stopped) {
      if (this.#dataLeft > 0) {
        at = this.#passData(bytes, at, end)
        continue
      }
      if (end - at < FRAME_HEAD) return this.#keep(bytes, at, end, FRAME_HEAD)
      const length = lengthAt(bytes, at)
      if (this.#isTooLong(length, bytes, at)) return this.#refuse()
      const next = at + FRAME_HEAD + length
      if (next <= end) {
        this.#deliver(bytes, at, next)
        at = next
      } else if (this.#beginData(bytes, at, length)) at += FRAME_HEAD
      else return this.#keep(bytes, at, end, FRAME_HEAD + length)
    }
  }

  #deliver(bytes: Buffer, at: number, end: number): void {
    const type = bytes[at + 3] ?? 0
    const flags = bytes[at + 4] ?? 0
    this.delivered++
    this.#receiver.frame(type, flags, streamAt(bytes, at), bytes, at + FRAME_HEAD, end)
  }

  #isTooLong(length: number, bytes: Buffer, at: number): boolean {
    return length > (bytes[at + 3] === DATA ? this.#limits.maxFrame : this.#limits.maxWhole)
  }

  #refuse(): void {
    this.stop()
    this.#receiver.frameTooLong()
  }

  /** True when the frame is one whose payload need not be whole. */
  #beginData(bytes: Buffer, at: number, length: number): boolean {
    if (!isPlainData(bytes, at)) return false
    this.#dataLeft = length
    this.#dataFlags = bytes[at + 4] ?? 0
    this.#dataStream = streamAt(bytes, at)
    return true
  }

  #passData(bytes: Buffer, at: number, end: number): number {
    const next = Math.min(end, at + this.#dataLeft)
    this.#dataLeft -= next - at
    const flags = this.#dataLeft === 0 ? this.#dataFlags : this.#dataFlags & ~END_STREAM
    this.#receiver.frame(DATA, flags, this.#dataStream, bytes, at, next)
    return next
  }

  #keep(bytes: Buffer, at: number, end: number, size: number): void {
    this.#partial = Buffer.allocUnsafe(size)
    this.#filled = bytes.copy(this.#partial, 0, at, end)
  }

  /** Adds to the frame that has begun; the position after what was taken. */
  #complete(bytes: Buffer, start: number, end: number): number {
    let at = start
    for (let partial = this.#partial; partial !== null && at < end; partial = this.#partial) {
      const taken = bytes.copy(partial, this.#filled, at, Math.min(end, at + partial.length - this.#filled))
      at += taken
      this.#filled += taken
      if (this.#filled < partial.length) break
      this.#partial = null
      const length = lengthAt(partial, 0)
      if (this.#isTooLong(length, partial, 0)) this.#refuse()
      else if (partial.length === FRAME_HEAD + length) this.#deliver(partial, 0, partial.length)
      else if (!this.#beginData(partial, 0, length)) this.#keep(partial, 0, FRAME_HEAD, FRAME_HEAD + length)
    }
    return at
  }
}

/** DATA without padding. */
function isPlainData(bytes: Buffer, at: number): boolean {
  return bytes[at + 3] === DATA && ((bytes[at + 4] ?? 0) & PADDED) === 0
}

function lengthAt(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
}

/** Without the reserved bit. */
function streamAt(bytes: Buffer, at: number): number {
  return (
    (((bytes[at + 5] ?? 0) & 127) << 24) |
    ((bytes[at + 6] ?? 0) << 16) |
    ((bytes[at + 7] ?? 0) << 8) |
    (bytes[at + 8] ?? 0)
  )
}
