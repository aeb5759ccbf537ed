import { DATA, END_STREAM, FRAME_HEAD, PADDED } from './frames.ts'

export interface FrameReceiver {
  /**
   * Receives one frame; its payload is from `start` to `end`. The bytes may be valid only during the call, depending on
   * the reader's input.
   */
  frame(type: number, flags: number, stream: number, bytes: Buffer, start: number, end: number): void
  /** Called for a frame that is too long; nothing is read after it. */
  frameTooLong(): void
}

interface FrameLimits {
  /** Maximum payload of DATA frames, in bytes. */
  maxFrame: number
  /** Maximum payload of other frames, which must be complete before they are processed. */
  maxWhole: number
}

/**
 * Splits a stream of bytes into frames. A frame other than DATA waits until it is complete. The received part of a DATA
 * frame is passed on as a smaller frame, so a body flows as it arrives and no connection buffers more than one frame.
 */
export class FrameReader {
  readonly #receiver: FrameReceiver
  readonly #limits: FrameLimits
  /** The beginning of an incomplete frame, and the number of its bytes. */
  #partial: Buffer | null = null
  #filled = 0
  /** State of the DATA frame in progress. */
  #dataLeft = 0
  #dataFlags = 0
  #dataStream = 0
  /** Complete frames passed on so far. */
  delivered = 0
  #stopped = false

  constructor(receiver: FrameReceiver, limits: FrameLimits) {
    this.#receiver = receiver
    this.#limits = limits
  }

  /** Whether the input so far ends inside a frame that must be complete. */
  get isInsideFrame(): boolean {
    return this.#partial !== null
  }

  /** Stops reading, including the rest of the current bytes. */
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

  /** Returns true for a frame whose payload need not be complete. */
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

  /** Adds bytes to the incomplete frame; returns the position after them. */
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

/** Returns whether the frame is DATA without padding. */
function isPlainData(bytes: Buffer, at: number): boolean {
  return bytes[at + 3] === DATA && ((bytes[at + 4] ?? 0) & PADDED) === 0
}

function lengthAt(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
}

/** Returns the stream id without the reserved bit. */
function streamAt(bytes: Buffer, at: number): number {
  return (
    (((bytes[at + 5] ?? 0) & 127) << 24) |
    ((bytes[at + 6] ?? 0) << 16) |
    ((bytes[at + 7] ?? 0) << 8) |
    (bytes[at + 8] ?? 0)
  )
}
