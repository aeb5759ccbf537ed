/**
 * Walks over the frames that one side of a WebSocket sends (RFC 6455 section 5.2), while the bytes are forwarded
 * untouched, and finds the Close frame: a side that ends its connection without a Close frame has lost it.
 */
export class CloseFrameFinder {
  /** Whether a Close frame has begun. */
  hasClosed = false
  readonly #head = Buffer.alloc(LONGEST_HEAD)
  #headSize = 0
  /** Remaining bytes of the masking key and the payload. */
  #left = 0

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && !this.hasClosed) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, chunk.length - at)
        this.#left -= skipped
        at += skipped
        continue
      }
      this.#head.writeUInt8(chunk.readUInt8(at++), this.#headSize++)
      if (this.#headSize >= 2 && this.#headSize === 2 + lengthBytes(this.#head)) this.#begin()
    }
  }

  #begin(): void {
    this.#headSize = 0
    const isMasked = (this.#head.readUInt8(1) & MASK) !== 0
    this.#left = payloadLength(this.#head) + (isMasked ? MASKING_KEY_BYTES : 0)
    // Every Close frame is the last frame of its message, without extension bits.
    this.hasClosed = this.#head.readUInt8(0) === (FIN | CLOSE)
  }
}

/** Bytes of the extended payload length after the first two bytes of a frame. */
export function lengthBytes(head: Buffer): number {
  const short = head.readUInt8(1) & 0x7f
  return short === 127 ? 8 : short === 126 ? 2 : 0
}

export function payloadLength(head: Buffer): number {
  const short = head.readUInt8(1) & 0x7f
  if (short < 126) return short
  return short === 126 ? head.readUInt16BE(2) : head.readUInt32BE(2) * 2 ** 32 + head.readUInt32BE(6)
}

/** Bytes of a frame head without the masking key. */
export const LONGEST_HEAD = 10
export const FIN = 0x80
export const MASK = 0x80
const MASKING_KEY_BYTES = 4
export const CLOSE = 8
