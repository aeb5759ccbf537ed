import { type HeaderBlock, type Sink, type Source, ThroughBody } from '@portico/http'

export interface Ends {
  /** New bytes in place of the first ones. */
  start?: { bytes: Buffer; replaces: number }
  /** Says which trailers follow instead; it may take its time. */
  trailers?: (trailers: HeaderBlock, then: (changed: HeaderBlock) => void) => void
  /** Once, when nothing follows. */
  over?: () => void
}

/** A body that goes on as it comes, but for its beginning and what follows it. */
export class PassingBody extends ThroughBody {
  readonly #ends: Ends
  #skip: number
  #isOver = false

  constructor(body: Source, ends: Ends) {
    super(body)
    this.#ends = ends
    this.#skip = ends.start?.replaces ?? 0
  }

  override get length(): number {
    return this.#ends.start === undefined ? this.body.length : -1
  }

  override pipe(sink: Sink): void {
    sink.source = this
    this.sink = sink
    if (this.#ends.start !== undefined) sink.write(this.#ends.start.bytes)
    this.body.pipe(this)
  }

  override cancel(cause: Error): void {
    this.sink = null
    super.cancel(cause)
    this.#over()
  }

  override write(chunk: Buffer): void {
    const skipped = Math.min(this.#skip, chunk.length)
    this.#skip -= skipped
    if (skipped < chunk.length) super.write(skipped === 0 ? chunk : chunk.subarray(skipped))
  }

  override end(trailers: HeaderBlock | null): void {
    if (trailers === null || this.#ends.trailers === undefined) return this.#end(trailers)
    this.flush()
    this.#ends.trailers(trailers, (changed) => this.#end(changed))
  }

  override abort(cause: Error): void {
    super.abort(cause)
    this.#over()
  }

  #end(trailers: HeaderBlock | null): void {
    const sink = this.sink
    this.sink = null
    // First, because with the end of the body the request may be over.
    this.#over()
    sink?.end(trailers)
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#ends.over?.()
  }
}
