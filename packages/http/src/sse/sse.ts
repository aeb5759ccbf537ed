export interface SseEvent {
  /** Empty when the event has no `event` field. */
  event: string
  data: string
  /** Empty when the event has no `id` field. */
  id: string
  /** Milliseconds after which a broken stream may be reopened; null when the event has no `retry` field. */
  retry: number | null
}

/** Parses server-sent events; chunk boundaries may be anywhere, even inside a character. */
export class SseParser {
  readonly #maxEventBytes: number
  /** The beginning of an incomplete line; the buffer grows by doubling, so that tiny chunks stay cheap. */
  #held = Buffer.alloc(0)
  #heldLength = 0
  #event = ''
  #data: string | null = null
  #id = ''
  #retry: number | null = null
  #eventBytes = 0
  #isOverflown = false
  #isFirstLine = true
  /** Whether the last line ended in CR: a following LF belongs to the same line end. */
  #isAfterReturn = false

  constructor(maxEventBytes: number = MAX_EVENT_BYTES) {
    this.#maxEventBytes = maxEventBytes
  }

  /** Whether an event exceeded the limit, after which nothing more is read. */
  get isOverflown(): boolean {
    return this.#isOverflown
  }

  /** Returns the events that these bytes complete. The chunk is not kept. */
  push(chunk: Buffer): SseEvent[] {
    const events: SseEvent[] = []
    if (this.#readWhole(chunk, events)) return events
    let start = this.#isAfterReturn && chunk[0] === LF ? 1 : 0
    if (chunk.length > 0) this.#isAfterReturn = false
    // Each position is searched again only once it is passed: nearly every stream uses only LF.
    let lf = chunk.indexOf(LF, start)
    let cr = chunk.indexOf(CR, start)
    while (!this.#isOverflown && start < chunk.length) {
      if (cr !== -1 && cr < start) cr = chunk.indexOf(CR, start)
      if (lf !== -1 && lf < start) lf = chunk.indexOf(LF, start)
      const end = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr
      if (!this.#hasRoom((end === -1 ? chunk.length : end) - start)) break
      if (end === -1) {
        this.#hold(chunk.subarray(start))
        break
      }
      this.#readLine(this.#takeLine(chunk.subarray(start, end)), events)
      start = end + 1
      if (chunk[end] !== CR) continue
      if (start === chunk.length) this.#isAfterReturn = true
      else if (chunk[start] === LF) start += 1
    }
    return events
  }

  /**
   * Parses chunks of whole events, which most chunks are, as one string; returns false when the bytes need the slow
   * path.
   */
  #readWhole(chunk: Buffer, into: SseEvent[]): boolean {
    const isBetween = this.#eventBytes === 0 && this.#heldLength === 0 && !this.#isFirstLine && !this.#isAfterReturn
    const { length } = chunk
    if (!isBetween || this.#isOverflown || length < 2 || length > this.#maxEventBytes) return false
    if (chunk[length - 1] !== LF || chunk[length - 2] !== LF) return false
    const text = chunk.toString('utf8')
    if (text.includes('\r')) return false
    for (let start = 0; start < text.length;) {
      const end = text.indexOf('\n', start)
      this.#readLine(text.slice(start, end), into)
      start = end + 1
    }
    return true
  }

  /** Returns the event that the stream left unterminated: some upstreams omit the last blank line. */
  end(): SseEvent[] {
    const events: SseEvent[] = []
    if (this.#isOverflown) return events
    if (this.#heldLength > 0) this.#readLine(this.#takeLine(NOTHING), events)
    this.#readLine('', events)
    return events
  }

  #hasRoom(length: number): boolean {
    this.#eventBytes += length
    if (this.#eventBytes <= this.#maxEventBytes) return true
    this.#isOverflown = true
    this.#held = NOTHING
    return false
  }

  #hold(bytes: Buffer): void {
    if (this.#heldLength + bytes.length > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(256, 2 * (this.#heldLength + bytes.length)))
      this.#held.copy(larger, 0, 0, this.#heldLength)
      this.#held = larger
    }
    bytes.copy(this.#held, this.#heldLength)
    this.#heldLength += bytes.length
  }

  #takeLine(bytes: Buffer): string {
    let line: string
    if (this.#heldLength === 0) {
      line = bytes.toString('utf8')
    } else {
      this.#hold(bytes)
      line = this.#held.toString('utf8', 0, this.#heldLength)
      this.#heldLength = 0
    }
    if (this.#isFirstLine && line.startsWith('\uFEFF')) line = line.slice(1)
    this.#isFirstLine = false
    return line
  }

  #readLine(line: string, into: SseEvent[]): void {
    if (line === '') return this.#finishEvent(into)
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') this.#data = this.#data === null ? value : `${this.#data}\n${value}`
    else if (name === 'event') this.#event = value
    else if (name === 'id') this.#id = value.includes('\0') ? '' : value
    else if (name === 'retry') this.#retry = /^\d{1,9}$/.test(value) ? Number(value) : null
  }

  #finishEvent(into: SseEvent[]): void {
    if (this.#data !== null) into.push({ event: this.#event, data: this.#data, id: this.#id, retry: this.#retry })
    this.#event = ''
    this.#data = null
    this.#id = ''
    this.#retry = null
    this.#eventBytes = 0
  }
}

/** Returns one record for a client. JSON has no line breaks, so the data is one line. */
export function sseRecord(data: string, event?: string): string {
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`
}

const LF = 0x0a
const CR = 0x0d
const NOTHING = Buffer.alloc(0)
const MAX_EVENT_BYTES = 16 * 1024 * 1024
