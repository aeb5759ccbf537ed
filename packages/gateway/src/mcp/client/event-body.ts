import type { Sink, Source } from '@portico/http'

/** A body of events that are written as they come. What a slow reader has not taken waits here, in order. */
export class EventBody implements Source {
  readonly length = -1
  readonly #events: EventBodyEvents
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #sink: Sink | null = null
  /** The sink has asked to wait. */
  #isStopped = false
  #isHeadWanted = false
  #isEnded = false
  #isOver = false
  #isCancelled = false

  constructor(events: EventBodyEvents) {
    this.#events = events
  }

  get waitingBytes(): number {
    return this.#waitingBytes
  }

  pipe(sink: Sink): void {
    sink.source = this
    this.#sink = sink
    if (this.#isHeadWanted) this.open()
    this.#drain()
  }

  /** The head leaves at once: otherwise it waits for the first event. */
  open(): void {
    if (this.#sink === null) this.#isHeadWanted = true
    else this.#isStopped = !this.#sink.flush()
  }

  /** False when the reader is slow: no more should come until `resumed`. */
  push(text: string): boolean {
    if (this.#isEnded || this.#isCancelled) return true
    const chunk = Buffer.from(text)
    if (this.#sink === null || this.#isStopped) {
      this.#waiting.push(chunk)
      this.#waitingBytes += chunk.length
      return this.#sink === null
    }
    this.#sink.write(chunk)
    this.#isStopped = !this.#sink.flush()
    return !this.#isStopped
  }

  end(): void {
    if (this.#isEnded || this.#isCancelled) return
    this.#isEnded = true
    if (this.#sink !== null && !this.#isStopped) this.#finish(this.#sink)
  }

  /** The stream is cut: whoever reads it can tell that this was not its end. */
  abort(cause: Error): void {
    if (this.#isEnded || this.#isCancelled) return
    this.#isCancelled = true
    this.#forget()
    this.#sink?.abort(cause)
    this.#events.cancelled(cause)
  }

  resume(): void {
    this.#isStopped = false
    this.#drain()
  }

  cancel(cause: Error): void {
    if (this.#isCancelled) return
    this.#isCancelled = true
    this.#forget()
    if (!this.#isEnded) this.#events.cancelled(cause)
  }

  /** Nothing waits while the sink takes more, so an end that comes then is not held back. */
  #drain(): void {
    const sink = this.#sink
    if (sink === null) return
    while (!this.#isStopped && !this.#isCancelled) {
      const chunk = this.#waiting.shift()
      if (chunk === undefined) break
      this.#waitingBytes -= chunk.length
      sink.write(chunk)
      this.#isStopped = !sink.flush()
    }
    if (this.#isStopped || this.#isCancelled) return
    if (this.#isEnded) this.#finish(sink)
    else this.#events.resumed()
  }

  #finish(sink: Sink): void {
    if (this.#isOver) return
    this.#isOver = true
    sink.end(null)
  }

  #forget(): void {
    this.#waiting = []
    this.#waitingBytes = 0
  }
}

export interface EventBodyEvents {
  resumed(): void
  /** The reader has left. */
  cancelled(cause: Error): void
}

/** One event of a client's stream. A JSON text has no line breaks, unless it was written with some. */
export function eventRecord(data: string, id: string, retryMs: number | null = null): string {
  const retry = retryMs === null ? '' : `retry: ${retryMs}\n`
  const name = id === '' ? '' : `id: ${id}\n`
  if (data === '') return `${name}${retry}data: \n\n`
  const lines = data.includes('\n') || data.includes('\r') ? data.split(/\r\n|\n|\r/).join('\ndata: ') : data
  return `event: message\n${name}${retry}data: ${lines}\n\n`
}

export const KEEP_ALIVE = ': keep-alive\n\n'
/** Proxies close streams that are quiet for a minute. */
export const KEEP_ALIVE_MS = 15_000
