import { HeaderBlock } from '../fields/header-block.ts'
import { CR, HEX, latin1, LF, TOKEN, VALUE } from './chars.ts'
import { parseTrailers } from './head.ts'

/** Receives the bytes of a decoded body. */
interface ChunkReceiver {
  data(chunk: Buffer): void
}

/**
 * Decodes one chunked body, strictly: exact CRLF everywhere, no sign, space or overflow in a size, and limits on
 * extensions and trailers. After an error, nothing more is read.
 */
export class ChunkedDecoder {
  /** Whether the last chunk and the trailer section have been read. */
  done = false
  /** Why the body is invalid, or null. */
  error: string | null = null
  trailers: HeaderBlock | null = null

  #state = SIZE_FIRST
  #remaining = 0
  #extensionBytes = 0
  #trailerText = ''

  /** Whether the next byte begins the size line of a chunk. */
  get isBetweenChunks(): boolean {
    return this.#state === SIZE_FIRST
  }

  /** Reads from `at`; returns the position after the last byte that belongs to this body. */
  decode(bytes: Buffer, at: number, receiver: ChunkReceiver): number {
    const end = bytes.length
    while (at < end && !this.done && this.error === null) {
      switch (this.#state) {
        case DATA: {
          const take = Math.min(this.#remaining, end - at)
          receiver.data(take === end && at === 0 ? bytes : bytes.subarray(at, at + take))
          at += take
          this.#remaining -= take
          if (this.#remaining === 0) this.#state = DATA_CR
          break
        }
        case TRAILER:
          at = this.#readTrailer(bytes, at)
          break
        default:
          // `at` is within the bytes, and the table covers all byte values.
          this.#step(bytes[at++]!)
      }
    }
    return at
  }

  #step(byte: number): void {
    switch (this.#state) {
      case SIZE_FIRST:
      case SIZE: {
        const digit = HEX[byte]!
        if (digit !== 255) {
          if (this.#remaining > MAX_CHUNK / 16) return this.#fail('chunk size too large')
          // Leading zeros count as overhead too.
          if (this.#remaining === 0 && this.#state === SIZE && !this.#mayExtend()) return
          this.#remaining = this.#remaining * 16 + digit
          this.#state = SIZE
          return
        }
        if (this.#state === SIZE_FIRST) return this.#fail('bad chunk size')
        if (byte === CR) this.#state = SIZE_LF
        else if (byte === SEMICOLON) this.#state = EXTENSION_FIRST
        else this.#fail('bad chunk size')
        return
      }
      case EXTENSION_FIRST:
      case EXTENSION:
      case VALUE_FIRST:
      case EXTENSION_VALUE:
      case QUOTED:
      case QUOTED_PAIR:
      case QUOTED_END:
        if (this.#mayExtend()) this.#stepExtension(byte)
        return
      case SIZE_LF:
        if (byte !== LF) return this.#fail('bad chunk size line')
        this.#state = this.#remaining === 0 ? TRAILER : DATA
        return
      case DATA_CR:
        if (byte !== CR) return this.#fail('chunk longer than its size')
        this.#state = DATA_LF
        return
      case DATA_LF:
        if (byte !== LF) return this.#fail('chunk longer than its size')
        this.#state = SIZE_FIRST
        return
    }
  }

  /** Accepts `;name`, `;name=token` or `;name="text"`, without white space: parsers disagree on everything else. */
  #stepExtension(byte: number): void {
    const state = this.#state
    if (state === QUOTED_PAIR) {
      if (VALUE[byte] === 1) this.#state = QUOTED
      else this.#fail('bad chunk extension')
    } else if (state === QUOTED) {
      if (byte === QUOTE) this.#state = QUOTED_END
      else if (byte === BACKSLASH) this.#state = QUOTED_PAIR
      else if (VALUE[byte] === 0) this.#fail('bad chunk extension')
    } else if (TOKEN[byte] === 1 && state !== QUOTED_END) {
      if (state === EXTENSION_FIRST) this.#state = EXTENSION
      else if (state === VALUE_FIRST) this.#state = EXTENSION_VALUE
    } else if (byte === QUOTE && state === VALUE_FIRST) this.#state = QUOTED
    else if (byte === EQUALS && state === EXTENSION) this.#state = VALUE_FIRST
    else if (state === EXTENSION_FIRST || state === VALUE_FIRST) this.#fail('bad chunk extension')
    else if (byte === SEMICOLON) this.#state = EXTENSION_FIRST
    else if (byte === CR) this.#state = SIZE_LF
    else this.#fail('bad chunk extension')
  }

  /** Counts a byte of overhead; returns false when there were too many. */
  #mayExtend(): boolean {
    if (++this.#extensionBytes <= MAX_EXTENSIONS) return true
    this.#fail('chunk extensions too large')
    return false
  }

  #readTrailer(bytes: Buffer, at: number): number {
    const before = this.#trailerText.length
    // The empty line is searched in the joined text, because it may be split over reads.
    const text = this.#trailerText + latin1(bytes, at, Math.min(bytes.length, at + MAX_TRAILERS + 4 - before))
    const end = text.startsWith('\r\n') ? 2 : text.indexOf('\r\n\r\n') + 4
    if (end === 3) {
      if (text.length > MAX_TRAILERS) this.#fail('trailers too large')
      else if (/(^|[^\r])\n|\r[^\n]/.test(text)) this.#fail('bad trailers')
      this.#trailerText = text
      return bytes.length
    }
    if (end > 2) {
      const trailers = parseTrailers(text.slice(0, end), MAX_TRAILER_LINES)
      if (trailers instanceof HeaderBlock) this.trailers = trailers
      else return (this.#fail('bad trailers'), at)
    }
    this.done = true
    return at + end - before
  }

  #fail(reason: string): void {
    this.error = reason
  }
}

/**
 * Returns where the data begins if the bytes are exactly one chunk with data, without extensions and leading zeros;
 * else -1.
 */
export function framedDataAt(bytes: Buffer, length: number): number {
  // Indexes beyond the bytes are read as undefined, which no comparison accepts.
  if (bytes[0] === ZERO || bytes[length - 1] !== LF || bytes[length - 2] !== CR) return -1
  let size = 0
  let at = 0
  for (let digit = HEX[bytes[at]!]!; digit !== 255; digit = HEX[bytes[++at]!]!) {
    size = size * 16 + digit
    if (size > length) return -1
  }
  return size > 0 && bytes[at] === CR && bytes[at + 1] === LF && at + size + 4 === length ? at + 2 : -1
}

/** Returns the last chunk with its trailer section. */
export function lastChunk(trailers: HeaderBlock | null): string {
  return trailers === null ? '0\r\n\r\n' : '0\r\n' + trailers.toText() + '\r\n'
}

const SEMICOLON = 59
const EQUALS = 61
const QUOTE = 34
const ZERO = 48
const BACKSLASH = 92
const SIZE_FIRST = 0
const SIZE = 1
const EXTENSION_FIRST = 2
const SIZE_LF = 3
const DATA = 4
const DATA_CR = 5
const DATA_LF = 6
const TRAILER = 7
const EXTENSION = 8
const VALUE_FIRST = 9
const EXTENSION_VALUE = 10
const QUOTED = 11
const QUOTED_PAIR = 12
const QUOTED_END = 13

const MAX_CHUNK = Number.MAX_SAFE_INTEGER
/** Limit for all extensions of one body together: the gateway ignores them, and unbounded extensions are an attack. */
const MAX_EXTENSIONS = 4096
const MAX_TRAILERS = 16384
const MAX_TRAILER_LINES = 100
