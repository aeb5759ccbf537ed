import type { Sink, Source } from './body.ts'
import type { HeaderBlock } from './header-block.ts'

export interface BodyObserver {
  /** Each piece, before it goes on; it may be a view of a buffer that the next read fills again. */
  chunk(chunk: Buffer): void
  /** Once, before whoever gets the body hears of its end; `whole` is false when it broke off or was not wanted any more. */
  over(whole: boolean): void
}

/** Keeps a copy for `over`; null when the body broke off or is larger than `limit`. */
export function keepCopy(limit: number, over: (copy: Buffer | null) => void): BodyObserver {
  let kept: Buffer[] | null = []
  let size = 0
  return {
    chunk(chunk) {
      size += chunk.length
      if (size > limit) kept = null
      kept?.push(Buffer.from(chunk))
    },
    over: (whole) => over(whole && kept !== null ? Buffer.concat(kept) : null),
  }
}

/** A body that passes as it is, while somebody looks on. */
export class ObservedBody implements Source, Sink {
  source: Source | null = null
  readonly #body: Source
  readonly #observer: BodyObserver
  #sink: Sink | null = null
  #isOver = false

  constructor(body: Source, observer: BodyObserver) {
    this.#body = body
    this.#observer = observer
  }

  get length(): number {
    return this.#body.length
  }

  pipe(sink: Sink): void {
    sink.source = this
    this.#sink = sink
    this.#body.pipe(this)
  }

  resume(): void {
    this.#body.resume()
  }

  cancel(cause: Error): void {
    this.#over(false)
    this.#body.cancel(cause)
  }

  write(chunk: Buffer): void {
    this.#observer.chunk(chunk)
    this.#sink?.write(chunk)
  }

  flush(): boolean {
    return this.#sink?.flush() ?? true
  }

  end(trailers: HeaderBlock | null): void {
    this.#over(true)
    this.#sink?.end(trailers)
  }

  abort(cause: Error): void {
    this.#over(false)
    this.#sink?.abort(cause)
  }

  #over(whole: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#observer.over(whole)
  }
}
