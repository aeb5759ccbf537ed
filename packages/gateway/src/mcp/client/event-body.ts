import type { Sink, Source } from '@portico/http'

/** A body of SSE events. Events that a slow reader has not taken are queued in order. */
export class EventBody implements Source {
  readonly length = -1
  readonly #events: EventBodyEvents
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #sink: Sink | null = null
  /** Whether the sink has asked to pause. */
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

  /** Sends the response head at once; otherwise it is sent with the first event. */
  open(): void {
    if (this.#sink === null) this.#isHeadWanted = true
    else this.#isStopped = !this.#sink.flush()
  }

  /** Writes or queues a text; false means that the reader is slow, and to wait for `resumed`. */
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

  /** Breaks the stream, so that the reader can tell it from a regular end. */
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

  /** Writes the queued chunks until the sink asks to pause, and then the end, if it has been reached. */
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

interface EventBodyEvents {
  resumed(): void
  /** Called when the reader has left. */
  cancelled(cause: Error): void
}

/** Returns one SSE event. `data` is split into lines, because JSON may contain line breaks between its tokens. */
export function eventRecord(data: string, id: string, retryMs: number | null = null): string {
  const retry = retryMs === null ? '' : `retry: ${retryMs}\n`
  const name = id === '' ? '' : `id: ${id}\n`
  if (data === '') return `${name}${retry}data: \n\n`
  const lines = data.includes('\n') || data.includes('\r') ? data.split(/\r\n|\n|\r/).join('\ndata: ') : data
  return `event: message\n${name}${retry}data: ${lines}\n\n`
}

export const KEEP_ALIVE = ': keep-alive\n\n'
/** The interval of keepalive comments: proxies commonly close streams that are idle for a minute. */
export const KEEP_ALIVE_MS = 15_000
