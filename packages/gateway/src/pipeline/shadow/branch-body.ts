import type { Sink, Source } from '@portico/http'

/**
 * A copy of a request body for shadow policies, fed while the body flows to the backend. Reading the copy neither delays
 * the body nor consumes it. No more than `limit` bytes are copied; the copy of a larger body breaks off.
 */
export class BranchBody implements Source {
  readonly length: number
  readonly #limit: number
  #chunks: Buffer[] = []
  #size = 0
  #sink: Sink | null = null
  #end: 'open' | 'whole' | 'broken' = 'open'

  constructor(length: number, limit: number) {
    this.length = length
    this.#limit = limit
  }

  // `BranchBody` receives the request body as its observer, with `chunk` and `over`.

  /** Copies a chunk, which may be a view of a buffer that the next read overwrites. */
  chunk(chunk: Buffer): void {
    if (this.#end !== 'open') return
    this.#size += chunk.length
    const copy = Buffer.from(chunk)
    if (this.#sink === null) this.#chunks.push(copy)
    else {
      this.#sink.write(copy)
      this.#sink.flush()
    }
    // The reader has seen the bytes above the limit, so it knows that the body is too large.
    if (this.#size > this.#limit) this.over(false)
  }

  over(whole: boolean): void {
    if (this.#end !== 'open') return
    this.#end = whole ? 'whole' : 'broken'
    const sink = this.#sink
    if (sink !== null) this.#close(sink)
  }

  // As a source.

  pipe(sink: Sink): void {
    sink.source = this
    this.#sink = sink
    for (const chunk of this.#chunks) sink.write(chunk)
    if (this.#chunks.length > 0) sink.flush()
    this.#chunks = []
    if (this.#end !== 'open') this.#close(sink)
  }

  resume(): void {}

  cancel(): void {
    this.#end = 'broken'
    this.#sink = null
    this.#chunks = []
  }

  #close(sink: Sink): void {
    this.#sink = null
    if (this.#end === 'whole') sink.end(null)
    else sink.abort(BROKEN)
  }
}

const BROKEN = new Error('the body did not arrive as a whole')
