import { type HeaderBlock, type Sink, type Source, ThroughBody } from '@portico/http'

interface BodyEdits {
  /** Bytes that replace the first bytes of the body. */
  start?: { bytes: Buffer; replaces: number }
  /** Changes the trailers; may call `then` later. */
  trailers?: (trailers: HeaderBlock, then: (changed: HeaderBlock) => void) => void
  /** Called once, when the body has ended. */
  over?: () => void
}

/** A body that passes unchanged, except for its first bytes and its trailers. */
export class PassingBody extends ThroughBody {
  readonly #ends: BodyEdits
  #skip: number
  #isOver = false

  constructor(body: Source, ends: BodyEdits) {
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
