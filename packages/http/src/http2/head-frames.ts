import {
  CONTINUATION,
  END_HEADERS,
  ENHANCE_YOUR_CALM,
  HEADERS,
  NO_ERROR,
  PADDED,
  PRIORITIZED,
  PROTOCOL_ERROR,
} from './frames.ts'

/** Assembles field blocks: a HEADERS frame, and CONTINUATION up to the frame with END_HEADERS. */
export class HeadFrames {
  /** The block, once it is complete: its stream, the flags of its HEADERS frame, and its position. */
  stream = 0
  flags = 0
  bytes: Buffer = NO_BYTES
  start = 0
  end = 0
  isWhole = true
  readonly #maxSize: number
  #pieces: Buffer[] = []
  #size = 0

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  /** Returns whether a frame may come now: no other frame may interrupt the frames of a block. */
  allows(type: number, stream: number): boolean {
    return this.isWhole ? type !== CONTINUATION : type === CONTINUATION && stream === this.stream
  }

  /** Returns the error code of the frame, or NO_ERROR; then check `isWhole`. */
  take(type: number, flags: number, stream: number, bytes: Buffer, start: number, end: number): number {
    if (type === HEADERS) {
      const code = this.#begin(flags, stream, bytes, start, end)
      if (code !== NO_ERROR || this.isWhole) return code
    } else {
      this.bytes = bytes
      this.start = start
      this.end = end
    }
    return this.#collect((flags & END_HEADERS) !== 0)
  }

  #begin(flags: number, stream: number, bytes: Buffer, start: number, end: number): number {
    let from = start
    let to = end
    if ((flags & PADDED) !== 0) to -= bytes[from++] ?? 0
    const priority = from
    const isPrioritized = (flags & PRIORITIZED) !== 0
    if (isPrioritized) from += PRIORITY_SIZE
    if (from > to || stream === 0) return PROTOCOL_ERROR
    if (isPrioritized && dependencyAt(bytes, priority) === stream) return PROTOCOL_ERROR
    this.stream = stream
    this.flags = flags
    this.bytes = bytes
    this.start = from
    this.end = to
    this.isWhole = (flags & END_HEADERS) !== 0
    return NO_ERROR
  }

  /**
   * Copies the current piece. A peer that exceeds the size limit, or splits a block into too many pieces, is stopped.
   */
  #collect(isLast: boolean): number {
    this.#size += this.end - this.start
    if (this.#size > this.#maxSize || this.#pieces.length >= MAX_PIECES) return ENHANCE_YOUR_CALM
    this.#pieces.push(Buffer.from(this.bytes.subarray(this.start, this.end)))
    this.bytes = NO_BYTES
    if (!isLast) return NO_ERROR
    this.bytes = Buffer.concat(this.#pieces)
    this.start = 0
    this.end = this.#size
    this.isWhole = true
    this.#pieces = []
    this.#size = 0
    return NO_ERROR
  }
}

/** Returns the stream that a priority depends on (RFC 7540 section 6.3); only its form is checked. */
export function dependencyAt(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) & 0x7fffffff
}

export const PRIORITY_SIZE = 5
const NO_BYTES = Buffer.alloc(0)
const MAX_PIECES = 64
