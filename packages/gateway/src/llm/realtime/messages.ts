import { CLOSE, FIN, lengthBytes, LONGEST_HEAD, MASK, payloadLength } from '@portico/http/websocket'

/** Receives the messages of a WebSocket. */
export interface MessageReader {
  /** A whole text message; the bytes are valid only during the call. */
  text(bytes: Buffer): void
  /** A message that is too large to buffer, or compressed by an extension; reading continues after the message. */
  skipped(): void
  /** The bytes are not valid frames, so nothing that follows is read. Called once. */
  lost(): void
}

/**
 * Reads the frames of a WebSocket server (RFC 6455 section 5) while the bytes pass unchanged. Control frames and binary
 * messages are skipped; at most `maxBytes` of a message are buffered, whatever its number of frames.
 */
export class WebSocketMessages {
  readonly #reader: MessageReader
  readonly #maxBytes: number
  readonly #head = Buffer.alloc(LONGEST_HEAD)
  #headSize = 0
  /** The remaining payload bytes of the current frame. */
  #left = 0
  #isControl = false
  #isLast = true
  #message: 'none' | 'kept' | 'binary' | 'unread' = 'none'
  #kept: Buffer = EMPTY
  #size = 0
  #isLost = false

  constructor(reader: MessageReader, maxBytes: number) {
    this.#reader = reader
    this.#maxBytes = maxBytes
  }

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && !this.#isLost) {
      at = this.#left === 0 ? this.#takeHead(chunk, at) : this.#takePayload(chunk, at)
    }
  }

  #takeHead(chunk: Buffer, from: number): number {
    const head = this.#head
    let at = from
    while (at < chunk.length) {
      head[this.#headSize++] = chunk.readUInt8(at++)
      if (this.#headSize < 2 || this.#headSize < 2 + lengthBytes(head)) continue
      this.#headSize = 0
      this.#begin(head.readUInt8(0), head.readUInt8(1))
      break
    }
    return at
  }

  #begin(first: number, second: number): void {
    const length = payloadLength(this.#head)
    const opcode = first & 0x0f
    const isLast = (first & FIN) !== 0
    const isPacked = (first & RESERVED) !== 0
    this.#isControl = opcode >= CLOSE
    // Servers must not mask.
    if ((second & MASK) !== 0 || length > Number.MAX_SAFE_INTEGER) return this.#lose()
    if (this.#isControl) {
      if (opcode > PONG || !isLast || length > LONGEST_CONTROL) return this.#lose()
    } else {
      const isRunning = this.#message !== 'none'
      if (opcode > BINARY || isRunning !== (opcode === CONTINUATION)) return this.#lose()
      this.#isLast = isLast
      if (opcode === TEXT) this.#message = 'kept'
      else if (opcode === BINARY) this.#message = 'binary'
      if (isPacked || (this.#message === 'kept' && this.#size + length > this.#maxBytes)) this.#drop()
    }
    this.#left = length
    if (length === 0) this.#frameOver()
  }

  #takePayload(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#left)
    const part = chunk.subarray(at, end)
    this.#left -= part.length
    if (!this.#isControl && this.#message === 'kept') {
      // Most messages come in one piece, and are not copied.
      if (this.#left === 0 && this.#isLast && this.#size === 0) {
        this.#message = 'none'
        this.#reader.text(part)
        return end
      }
      this.#keep(part)
    }
    if (this.#left === 0) this.#frameOver()
    return end
  }

  #frameOver(): void {
    if (this.#isControl || !this.#isLast) return
    const message = this.#message
    const bytes = this.#kept.subarray(0, this.#size)
    this.#message = 'none'
    this.#kept = EMPTY
    this.#size = 0
    if (message === 'kept') this.#reader.text(bytes)
    else if (message === 'unread') this.#reader.skipped()
  }

  /** Appends to one growing buffer: a list of small pieces would need more memory than their contents. */
  #keep(part: Buffer): void {
    const size = this.#size + part.length
    if (size > this.#kept.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#maxBytes, Math.max(size, 2 * this.#kept.length)))
      this.#kept.copy(larger, 0, 0, this.#size)
      this.#kept = larger
    }
    part.copy(this.#kept, this.#size)
    this.#size = size
  }

  #drop(): void {
    this.#message = 'unread'
    this.#kept = EMPTY
    this.#size = 0
  }

  #lose(): void {
    this.#isLost = true
    this.#drop()
    this.#reader.lost()
  }
}

const EMPTY = Buffer.alloc(0)
const LONGEST_CONTROL = 125
const RESERVED = 0x70
const CONTINUATION = 0
export const TEXT = 1
const BINARY = 2
const PONG = 10
