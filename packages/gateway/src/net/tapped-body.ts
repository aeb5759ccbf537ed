import type { Sink, Source } from './body.ts'
import type { HeaderBlock } from './header-block.ts'

/** A body that passes as it is; `over` gets a copy of it, or null when it broke off or is too large to keep. */
export class TappedBody implements Source, Sink {
  source: Source | null = null
  readonly #body: Source
  readonly #limit: number
  readonly #over: (copy: Buffer | null) => void
  #kept: Buffer[] | null = []
  #size = 0
  #sink: Sink | null = null
  #isOver = false

  constructor(body: Source, limit: number, over: (copy: Buffer | null) => void) {
    this.#body = body
    this.#limit = limit
    this.#over = over
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
    this.#end(null)
    this.#body.cancel(cause)
  }

  write(chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size > this.#limit) this.#kept = null
    // It may be a view of a buffer that the next read fills again.
    this.#kept?.push(Buffer.from(chunk))
    this.#sink!.write(chunk)
  }

  flush(): boolean {
    return this.#sink!.flush()
  }

  end(trailers: HeaderBlock | null): void {
    // First: who is told of the end may ask at once what it came to.
    this.#end(this.#kept === null ? null : Buffer.concat(this.#kept))
    this.#sink!.end(trailers)
  }

  abort(cause: Error): void {
    this.#end(null)
    this.#sink!.abort(cause)
  }

  #end(copy: Buffer | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#over(copy)
  }
}
