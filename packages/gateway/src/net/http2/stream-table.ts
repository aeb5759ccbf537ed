import { NO_ERROR, PROTOCOL_ERROR, STREAM_CLOSED } from './frames.ts'

/** The streams of a connection, open and gone (RFC 9113 section 5.1). */
export class StreamTable<Stream> {
  readonly open = new Map<number, Stream>()
  /** The highest number that was used. Clients open streams, by odd numbers; nothing is pushed. */
  last = 0
  /** Streams above it are not answered: the client was told so by the server. */
  lastAnswered = HIGHEST_STREAM
  /** Streams that the server has ended while the client was still sending, for what is on its way; the oldest first. */
  readonly #cutOff = new Set<number>()

  /** Whether the number opens a stream. */
  isNew(id: number): boolean {
    return id > this.last && id % 2 === 1 && id <= this.lastAnswered
  }

  /** Nothing but HEADERS and PRIORITY may come for a stream that was never opened. */
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

  /** The error that a frame of a message is, on a stream that is not open; what was on its way is none. */
  late(id: number, ends: boolean): number {
    if (id > this.lastAnswered) return NO_ERROR
    if (id % 2 === 0 || id > this.last) return PROTOCOL_ERROR
    if (!this.#cutOff.has(id)) return STREAM_CLOSED
    if (ends) this.#cutOff.delete(id)
    return NO_ERROR
  }

  /** The client has reset it, and sends nothing more for it. */
  forget(id: number): void {
    this.#cutOff.delete(id)
  }
}

export const HIGHEST_STREAM = 2 ** 31 - 1
/** More than a client can have opened before it hears of the first. */
const MAX_CUT_OFF = 1_000
