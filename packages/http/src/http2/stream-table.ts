import { NumberTable } from '../collections/number-table.ts'
import { NO_ERROR, PROTOCOL_ERROR, STREAM_CLOSED } from './frames.ts'

/** The open and closed streams of a connection (RFC 9113 section 5.1). */
export class StreamTable<Stream> {
  readonly open = new NumberTable<Stream>()
  /** The highest stream id in use. Clients open streams with odd ids; nothing is pushed. */
  last = 0
  /** Streams above this id are not answered: the server's GOAWAY said so. */
  lastAnswered = HIGHEST_STREAM
  /**
   * Streams that the server ended while the client was still sending, oldest first; their frames in flight are dropped.
   */
  readonly #cutOff = new Set<number>()

  /** Returns whether the id opens a new stream. */
  isNew(id: number): boolean {
    return id > this.last && id % 2 === 1 && id <= this.lastAnswered
  }

  /** Returns whether the stream was never opened: only HEADERS and PRIORITY may arrive for it. */
  isIdle(id: number): boolean {
    return id % 2 === 0 || (id > this.last && id <= this.lastAnswered)
  }

  cutOff(id: number): void {
    this.#cutOff.add(id)
    if (this.#cutOff.size <= MAX_CUT_OFF) return
    for (const oldest of this.#cutOff) {
      this.#cutOff.delete(oldest)
      return
    }
  }

  /** Returns the error code for a frame on a stream that is not open; NO_ERROR for a frame that was in flight. */
  late(id: number, ends: boolean): number {
    if (id > this.lastAnswered) return NO_ERROR
    if (id % 2 === 0 || id > this.last) return PROTOCOL_ERROR
    if (!this.#cutOff.has(id)) return STREAM_CLOSED
    if (ends) this.#cutOff.delete(id)
    return NO_ERROR
  }

  /** Called when the client has reset the stream, after which it sends nothing more on it. */
  forget(id: number): void {
    this.#cutOff.delete(id)
  }
}

export const HIGHEST_STREAM = 2 ** 31 - 1
/** More streams than a client can have opened before it learns that the first was ended. */
const MAX_CUT_OFF = 1_000
