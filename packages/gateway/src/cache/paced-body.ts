import { Deadline, type Deadlines, type Sink, type Source } from '@portico/http'

/** The pace at which stored streams are sent. */
export interface Pace {
  readonly eventsPerSecond: number
  /** The most milliseconds from the first event to the last one: longer streams are sent faster. */
  readonly maxDuration: number
}

interface PacedParts extends Pace {
  readonly deadlines: Deadlines
  /** Runs work of the request, whose exceptions end the request. */
  readonly contain: (run: () => void) => void
}

/** Returns the position after the event that begins at `from`. */
type EventEnd = (body: Buffer, from: number) => number

/** How events of a stream are told apart; null for bodies that are not streams of events. */
export function eventEndOf(contentType: string): EventEnd | null {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return EVENT_ENDS.get(type) ?? null
}

/**
 * A stored stream that is sent event by event. The first event leaves at once. While the reader is slow no timer runs, and
 * what is due meanwhile leaves as soon as the reader is ready.
 */
export class PacedBody implements Source {
  readonly #body: Buffer
  readonly #eventEnd: EventEnd
  readonly #deadlines: Deadlines
  readonly #next: Deadline
  /** Milliseconds between two events. */
  readonly #interval: number
  #sink: Sink | null = null
  #isBlocked = false
  #startedAt = 0
  /** The number of events that were sent. */
  #sent = 0
  #position = 0

  constructor(body: Buffer, eventEnd: EventEnd, parts: PacedParts) {
    const { eventsPerSecond, maxDuration, deadlines, contain } = parts
    this.#body = body
    this.#eventEnd = eventEnd
    this.#deadlines = deadlines
    this.#next = new Deadline(() => contain(() => this.#pass()))
    let count = 0
    for (let at = 0; at < body.length; at = eventEnd(body, at)) count += 1
    this.#interval = Math.min(1000 / eventsPerSecond, maxDuration / Math.max(1, count - 1))
  }

  get length(): number {
    return this.#body.length
  }

  pipe(sink: Sink): void {
    sink.source = this
    this.#sink = sink
    this.#startedAt = this.#deadlines.now()
    this.#pass()
  }

  resume(): void {
    if (!this.#isBlocked) return
    this.#isBlocked = false
    this.#pass()
  }

  cancel(): void {
    this.#sink = null
    this.#deadlines.clear(this.#next)
  }

  /** Sends the events that are due. */
  #pass(): void {
    const elapsed = this.#deadlines.now() - this.#startedAt
    while (this.#sink !== null && this.#position < this.#body.length && this.#sent * this.#interval <= elapsed) {
      const start = this.#position
      this.#position = this.#eventEnd(this.#body, start)
      this.#sent += 1
      this.#sink.write(this.#body.subarray(start, this.#position))
    }
    const sink = this.#sink
    if (sink === null) return
    if (this.#position < this.#body.length) return this.#wait(sink)
    this.#sink = null
    sink.end(null)
  }

  #wait(sink: Sink): void {
    // A flush may end in a `resume` or a `cancel`.
    this.#isBlocked = true
    if (!sink.flush() || !this.#isBlocked || this.#sink === null) return
    this.#isBlocked = false
    const dueAt = this.#startedAt + this.#sent * this.#interval
    this.#deadlines.set(this.#next, Math.max(0, dueAt - this.#deadlines.now()))
  }
}

const [LF, CR] = [0x0a, 0x0d]

/** An event of `text/event-stream` ends with an empty line; lines end in LF, CR or both. */
function sseEventEnd(body: Buffer, from: number): number {
  let at = from
  let hasLines = false
  while (at < body.length) {
    const start = at
    while (at < body.length && body[at] !== LF && body[at] !== CR) at += 1
    const isBlank = at === start
    at += body[at] === CR && body[at + 1] === LF ? 2 : 1
    if (isBlank && hasLines) return Math.min(at, body.length)
    if (!isBlank) hasLines = true
  }
  return body.length
}

/** A message of `application/vnd.amazon.eventstream` begins with its length. */
function messageEnd(body: Buffer, from: number): number {
  const length = from + 4 <= body.length ? body.readUInt32BE(from) : 0
  return length === 0 ? body.length : Math.min(from + length, body.length)
}

function lineEnd(body: Buffer, from: number): number {
  const end = body.indexOf(LF, from)
  return end === -1 ? body.length : end + 1
}

const EVENT_ENDS: ReadonlyMap<string, EventEnd> = new Map([
  ['text/event-stream', sseEventEnd],
  ['application/vnd.amazon.eventstream', messageEnd],
  ['application/x-ndjson', lineEnd],
])
