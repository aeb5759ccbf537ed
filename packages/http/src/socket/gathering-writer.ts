import type { Writable } from 'node:stream'
import { latin1 } from '../text/characters.ts'

/** Gathers the pieces of a message and passes them to the socket in as few writes as possible. */
export class GatheringWriter {
  /** Bytes passed to the socket so far. */
  sent = 0
  readonly #socket: Writable
  /** The only pending buffer, which is written as it is unless more follows. */
  #alone: Buffer | null = null
  /** Pending text that no bytes follow yet; latin1. */
  #text = ''
  #pieces: (string | Buffer)[] | null = null
  #size = 0

  constructor(socket: Writable) {
    this.#socket = socket
  }

  text(text: string): void {
    if (this.#alone !== null) this.#join(this.#alone)
    this.#text += text
    this.#size += text.length
  }

  bytes(bytes: Buffer): void {
    if (this.#size === 0) {
      this.#alone = bytes
      this.#size = bytes.length
      return
    }
    if (this.#alone !== null) this.#join(this.#alone)
    this.#size += bytes.length
    this.#append(bytes)
  }

  /** Adds one chunk of a chunked body; it must not be empty. */
  chunk(bytes: Buffer): void {
    // Events of a stream come one by one: a small buffer for each costs less than three pieces of text.
    if (this.#size === 0 && bytes.length <= SMALL) return this.bytes(framedChunk(bytes))
    this.text(chunkHead(bytes.length))
    this.bytes(bytes)
    this.text('\r\n')
  }

  #join(alone: Buffer): void {
    this.#alone = null
    this.#append(alone)
  }

  #append(bytes: Buffer): void {
    // A small body costs less as part of the head's string than as a separate buffer.
    if (this.#pieces === null && this.#size <= SMALL) {
      this.#text += latin1(bytes, 0, bytes.length)
      return
    }
    const pieces = (this.#pieces ??= [])
    if (this.#text !== '') pieces.push(this.#text)
    this.#text = ''
    pieces.push(bytes)
  }

  /** Returns true when the kernel accepted everything or the socket's buffer still has room. */
  flush(): boolean {
    if (this.#size === 0) return !this.#socket.writableNeedDrain
    this.sent += this.#size
    this.#size = 0
    const alone = this.#alone
    if (alone !== null) {
      this.#alone = null
      return this.#socket.write(alone)
    }
    const pieces = this.#pieces
    const text = this.#text
    this.#text = ''
    if (pieces === null) return this.#socket.write(text, 'latin1')
    this.#pieces = null
    if (text !== '') pieces.push(text)
    const [only] = pieces
    if (pieces.length === 1 && only !== undefined) return this.#socket.write(only)
    this.#socket.cork()
    let room = true
    for (const piece of pieces) {
      room = typeof piece === 'string' ? this.#socket.write(piece, 'latin1') : this.#socket.write(piece)
    }
    this.#socket.uncork()
    return room
  }

  /** Drops the pending bytes. */
  discard(): void {
    this.#alone = null
    this.#text = ''
    this.#pieces = null
    this.#size = 0
  }

  /** Number of pending bytes. */
  get pending(): number {
    return this.#size
  }
}

const SMALL = 4096

/** Returns the size line of one chunk. */
export function chunkHead(size: number): string {
  return size.toString(16) + '\r\n'
}

/** Returns one chunk in wire format. */
export function framedChunk(bytes: Buffer): Buffer {
  const size = bytes.length
  let start = 3
  for (let rest = size; rest > 15; rest >>>= 4) start++
  const framed = Buffer.allocUnsafe(start + size + 2)
  for (let rest = size, at = start - 3; at >= 0; rest >>>= 4) framed[at--] = HEX_DIGITS.charCodeAt(rest & 15)
  framed[start - 2] = framed[start + size] = CR
  framed[start - 1] = framed[start + size + 1] = LF
  framed.set(bytes, start)
  return framed
}

const HEX_DIGITS = '0123456789abcdef'
const CR = 13
const LF = 10
