/** A block of fields that comes in several frames: HEADERS, then CONTINUATION up to the one that says it is the last. */
export class FieldBlock {
  readonly stream: number
  /** Of the HEADERS frame. */
  readonly flags: number
  readonly #maxSize: number
  #pieces: Buffer[] = []
  #size = 0

  constructor(stream: number, flags: number, maxSize: number) {
    this.stream = stream
    this.flags = flags
    this.#maxSize = maxSize
  }

  /** Copies the piece; false when the block has become longer, or more, than any that is borne. */
  add(bytes: Buffer, start: number, end: number): boolean {
    this.#size += end - start
    if (this.#size > this.#maxSize || this.#pieces.length >= MAX_PIECES) return false
    this.#pieces.push(Buffer.from(bytes.subarray(start, end)))
    return true
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#pieces)
  }
}

/** Those who send more split for the sake of it. */
const MAX_PIECES = 64
