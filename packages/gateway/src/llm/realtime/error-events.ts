import type { BytesEdit } from '@portico/http'
import { FIN, lengthBytes, LONGEST_HEAD, MASK, payloadLength } from '@portico/http/websocket'
import { TEXT } from './messages.ts'

/**
 * Redacts credentials in the error events of a WebSocket server on their way to the client: `hide` redacts a text; all
 * other bytes pass unchanged. Frames that could be error events are held until they are complete, which delays no
 * client: it needs the whole frame anyway.
 */
export class ErrorEvents implements BytesEdit {
  readonly #hide: (text: string) => string
  /** The beginning of an incomplete frame. */
  #held: Buffer = EMPTY
  /** The remaining bytes of a frame that passes unchanged; `Infinity` when the bytes are not valid frames. */
  #left = 0

  constructor(hide: (text: string) => string) {
    this.#hide = hide
  }

  push(chunk: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = EMPTY
    const given: Buffer[] = []
    let from = 0
    let at = Math.min(this.#left, bytes.length)
    this.#left -= at
    while (at < bytes.length) {
      const size = frameSize(bytes, at)
      if (size === null) break
      const end = at + size
      const isEvent = bytes[at] === WHOLE_TEXT && size <= LARGEST_ERROR
      if (end > bytes.length) {
        if (isEvent) break
        this.#left = end - bytes.length
        at = bytes.length
        break
      }
      const shown = isEvent ? this.#shown(bytes.subarray(at, end)) : null
      if (shown !== null) {
        given.push(bytes.subarray(from, at), shown)
        from = end
      }
      at = end
    }
    // The chunk may be a view of a buffer that the next read overwrites.
    if (at < bytes.length) this.#held = Buffer.from(bytes.subarray(at))
    const rest = bytes.subarray(from, at)
    return given.length === 0 ? rest : Buffer.concat([...given, rest])
  }

  end(): Buffer {
    return this.#held
  }

  /** The redacted frame; null when nothing was redacted. */
  #shown(frame: Buffer): Buffer | null {
    if (!frame.includes('"error"')) return null
    const text = frame.toString('latin1', 2 + lengthBytes(frame))
    const hidden = this.#hide(text)
    return hidden === text ? null : textFrame(Buffer.from(hidden, 'latin1'))
  }
}

/**
 * The size of the frame at `at` in bytes; null while its head is incomplete, `Infinity` when the bytes are not a valid
 * frame.
 */
function frameSize(bytes: Buffer, at: number): number | null {
  const head = bytes.subarray(at, at + LONGEST_HEAD)
  if (head.length < 2) return null
  // Servers must not mask.
  if ((head.readUInt8(1) & MASK) !== 0) return Infinity
  const size = 2 + lengthBytes(head)
  return head.length < size ? null : size + payloadLength(head)
}

/** Encodes a text frame. Redacted events are always shorter than 64 KiB, so the 64-bit length is not needed. */
function textFrame(payload: Buffer): Buffer {
  const { length } = payload
  const head = length < 126 ? [WHOLE_TEXT, length] : [WHOLE_TEXT, 126, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(head), payload])
}

const EMPTY = Buffer.alloc(0)
/** A text message in a single frame, as servers send events. */
const WHOLE_TEXT = FIN | TEXT
const LARGEST_ERROR = 16 * 1024
