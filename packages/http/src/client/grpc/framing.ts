import { GrpcError, INTERNAL, RESOURCE_EXHAUSTED, UNIMPLEMENTED } from './status.ts'

/** Bytes of the flag and the length before each message. */
const PREFIX = 5

/** Returns a message with its prefix. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(PREFIX + message.length)
  framed[0] = 0
  framed.writeUInt32BE(message.length, 1)
  framed.set(message, PREFIX)
  return framed
}

/** Splits a body into messages; chunk boundaries may be anywhere. */
export class MessageReader {
  readonly #maxBytes: number
  /** Buffer for a prefix that is split over chunks. */
  #prefix: Buffer | null = null
  #prefixLength = 0
  /** The message that is being assembled. */
  #message: Buffer | null = null
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Whether a message has begun and is not complete. */
  get isPartial(): boolean {
    return this.#prefixLength > 0
  }

  /**
   * Passes on each message that these bytes complete; the receiver owns the message. Returns an error when the bytes
   * are invalid.
   */
  push(chunk: Buffer, take: (message: Buffer) => void): GrpcError | null {
    let at = 0
    while (at < chunk.length) {
      if (this.#message === null) {
        const isWhole = this.#prefixLength === 0 && chunk.length - at >= PREFIX
        const prefix = isWhole ? chunk : (this.#prefix ??= Buffer.alloc(PREFIX))
        const taken = isWhole ? PREFIX : chunk.copy(prefix, this.#prefixLength, at)
        this.#prefixLength += taken
        if (this.#prefixLength < PREFIX) return null
        const problem = this.#begin(prefix, isWhole ? at : 0)
        if (problem !== null) return problem
        at += taken
      }
      const message = this.#message ?? EMPTY
      const taken = chunk.copy(message, this.#length, at)
      at += taken
      this.#length += taken
      if (this.#length < message.length) continue
      this.#message = null
      this.#prefixLength = 0
      take(message)
    }
    return null
  }

  #begin(prefix: Buffer, at: number): GrpcError | null {
    const flag = prefix[at]
    if (flag === 1) return new GrpcError(UNIMPLEMENTED, 'the message is compressed, which was not asked for')
    if (flag !== 0) return new GrpcError(INTERNAL, 'the message is not framed as gRPC')
    const length = prefix.readUInt32BE(at + 1)
    if (length > this.#maxBytes) {
      return new GrpcError(RESOURCE_EXHAUSTED, `a message of ${length} bytes is longer than ${this.#maxBytes}`)
    }
    this.#message = Buffer.allocUnsafe(length)
    this.#length = 0
    return null
  }
}

const EMPTY = Buffer.alloc(0)
