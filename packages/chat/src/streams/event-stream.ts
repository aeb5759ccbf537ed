import { crc32 } from 'node:zlib'

/**
 * The framing of streamed AWS responses: length-prefixed messages of headers and a payload, each with two checksums.
 */

export interface EventStreamMessage {
  /** The headers with a text value. AWS sends no other headers that matter here. */
  headers: Map<string, string>
  payload: Buffer
}

/** The largest message that AWS sends: a payload of 24 MiB and 128 KiB of headers, with lengths and checksums. */
export const MAX_MESSAGE_SIZE = 24 * 1024 * 1024 + 128 * 1024 + 16

export class EventStreamReader {
  /** The reason why the bytes are not a valid event stream; null while they are valid. */
  failure: string | null = null
  readonly #maxSize: number
  readonly #prelude = Buffer.alloc(PRELUDE_SIZE)
  /** The buffer being filled: first the prelude, then the message whose size the prelude gave. */
  #target = this.#prelude
  #held = 0

  constructor(maxSize = MAX_MESSAGE_SIZE) {
    this.#maxSize = maxSize
  }

  /** Whether a message has begun and is not complete. */
  get isPartial(): boolean {
    return this.#held > 0
  }

  /** Returns the messages that these bytes complete; after a failure always an empty list. */
  push(chunk: Buffer): EventStreamMessage[] {
    const messages: EventStreamMessage[] = []
    let at = 0
    while (at < chunk.length && this.failure === null) {
      const target = this.#target
      const taken = chunk.copy(target, this.#held, at, at + target.length - this.#held)
      at += taken
      this.#held += taken
      const message = this.#held === target.length ? this.#complete() : null
      if (message !== null) messages.push(message)
    }
    return messages
  }

  /** Returns the message when the target is a full message, and null when it is the prelude. */
  #complete(): EventStreamMessage | null {
    if (this.#target === this.#prelude) {
      this.#makeRoom()
      return null
    }
    const message = readMessage(this.#target)
    this.#target = this.#prelude
    this.#held = 0
    if (typeof message !== 'string') return message
    this.failure = message
    return null
  }

  #makeRoom(): void {
    const size = messageSize(this.#prelude, this.#maxSize)
    if (typeof size === 'string') {
      this.failure = size
      return
    }
    this.#target = Buffer.allocUnsafe(size)
    this.#prelude.copy(this.#target)
  }
}

/** Two lengths and their checksum, in bytes. */
const PRELUDE_SIZE = 12
const CHECKSUM_SIZE = 4

/** The size of the whole message in bytes, or the reason why its prelude is invalid. */
function messageSize(prelude: Buffer, maxSize: number): number | string {
  if (crc32(prelude.subarray(0, 8)) !== prelude.readUInt32BE(8)) return 'the checksum of a prelude is wrong'
  const size = prelude.readUInt32BE(0)
  if (size > maxSize) return `a message of ${size} bytes is larger than ${maxSize}`
  if (prelude.readUInt32BE(4) > size - PRELUDE_SIZE - CHECKSUM_SIZE)
    return 'the lengths of a message contradict each other'
  return size
}

function readMessage(message: Buffer): EventStreamMessage | string {
  const end = message.length - CHECKSUM_SIZE
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end)) return 'the checksum of a message is wrong'
  const payloadAt = PRELUDE_SIZE + message.readUInt32BE(4)
  const headers = readHeaders(message.subarray(PRELUDE_SIZE, payloadAt))
  return headers === null ? 'a header is malformed' : { headers, payload: message.subarray(payloadAt, end) }
}

function readHeaders(bytes: Buffer): Map<string, string> | null {
  const headers = new Map<string, string>()
  let at = 0
  while (at < bytes.length) {
    const nameAt = at + 1
    const typeAt = nameAt + bytes.readUInt8(at)
    if (typeAt >= bytes.length) return null
    const type = bytes.readUInt8(typeAt)
    let valueAt = typeAt + 1
    let size = sizeByType[type]
    if (size === undefined) {
      if ((type !== BYTES && type !== TEXT) || valueAt + 2 > bytes.length) return null
      size = bytes.readUInt16BE(valueAt)
      valueAt += 2
    }
    at = valueAt + size
    if (at > bytes.length) return null
    if (type === TEXT) headers.set(bytes.toString('utf8', nameAt, typeAt), bytes.toString('utf8', valueAt, at))
  }
  return headers
}

const BYTES = 6
const TEXT = 7
/**
 * Value sizes in bytes by type: true, false, integers of 8, 16, 32 and 64 bits, two types with their own length field,
 * a timestamp, a UUID.
 */
const sizeByType: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16]
