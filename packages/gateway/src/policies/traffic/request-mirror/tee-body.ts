import type { HeaderBlock, Sink, Source } from '@portico/http'

/**
 * One body for two readers. The first sets the pace; the copy is kept for the second within a bound, beyond which
 * the second one is given up: mirrored traffic must never slow the real one.
 */
export class TeeBody implements Source, Sink {
  readonly length: number
  source: Source | null = null
  readonly copy: Source
  readonly #body: Source
  readonly #maxWaiting: number
  #sink: Sink | null = null
  #copySink: Sink | null = null
  #waiting: Buffer[] | null = []
  #waitingBytes = 0
  #blocked = false
  #ended: { trailers: HeaderBlock | null } | null = null
  #failed: Error | null = null
  #overflow: (() => void) | null = null

  constructor(body: Source, maxWaiting: number) {
    this.#body = body
    this.#maxWaiting = maxWaiting
    this.length = body.length
    this.copy = {
      length: body.length,
      pipe: (sink) => {
        sink.source = this.copy
        this.#copySink = sink
        this.#feedCopy()
      },
      resume: () => {
        this.#blocked = false
        this.#feedCopy()
      },
      cancel: () => this.#dropCopy(),
    }
  }

  onOverflow(callback: () => void): void {
    if (this.#waiting === null) callback()
    else this.#overflow = callback
  }

  pipe(sink: Sink): void {
    this.#sink = sink
    sink.source = this
    this.#body.pipe(this)
  }

  resume(): void {
    this.#body.resume()
  }

  cancel(cause: Error): void {
    // A body that was read whole can still be copied.
    if (this.#ended !== null) return
    this.#sink = null
    this.#failed = cause
    this.#body.cancel(cause)
    this.#feedCopy()
  }

  write(chunk: Buffer): void {
    this.#sink?.write(chunk)
    if (this.#waiting === null) return
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    if (this.#waitingBytes > this.#maxWaiting) {
      const overflow = this.#overflow
      this.#dropCopy()
      overflow?.()
    }
  }

  flush(): boolean {
    this.#feedCopy()
    return this.#sink === null || this.#sink.flush()
  }

  end(trailers: HeaderBlock | null): void {
    this.#ended = { trailers }
    this.#sink?.end(trailers)
    this.#sink = null
    this.#feedCopy()
  }

  abort(cause: Error): void {
    this.#failed = cause
    this.#sink?.abort(cause)
    this.#sink = null
    this.#feedCopy()
  }

  #feedCopy(): void {
    const sink = this.#copySink
    if (sink === null || this.#waiting === null) return
    if (this.#failed !== null) {
      this.#dropCopy()
      return sink.abort(this.#failed)
    }
    if (this.#blocked) return
    for (const chunk of this.#waiting) sink.write(chunk)
    this.#waiting = []
    this.#waitingBytes = 0
    if (this.#ended !== null) {
      this.#dropCopy()
      return sink.end(this.#ended.trailers)
    }
    if (!sink.flush()) this.#blocked = true
  }

  #dropCopy(): void {
    this.#waiting = null
    this.#copySink = null
    this.#overflow = null
  }
}
