import type { Sink, Source } from './body.ts'
import type { HeaderBlock } from '../fields/header-block.ts'

/** A request body that can be sent again, as long as the part read so far is small. */
export class ReplayableBody implements Source, Sink {
  readonly length: number
  source: Source | null = null
  readonly #body: Source
  #kept: Buffer[] | null = []
  #size = 0
  #sink: Sink | null = null
  #started = false
  #ended = false
  #trailers: HeaderBlock | null = null

  /** Returns null when the body is known to be too large to keep. */
  static wrap(body: Source): ReplayableBody | null {
    return body.length > MAX_KEPT ? null : new ReplayableBody(body)
  }

  private constructor(body: Source) {
    this.#body = body
    this.length = body.length
  }

  /** Whether everything read so far is still kept. */
  get whole(): boolean {
    return this.#kept !== null
  }

  /** Prepares for another `pipe`. */
  rewind(): void {
    this.#sink = null
  }

  /** Called when there will be no other attempt: nothing is kept, and `cancel` cancels the body itself. */
  stopKeeping(): void {
    this.#kept = null
    if (this.#sink === null && !this.#ended) this.#body.cancel(NOT_REPLAYED)
  }

  pipe(sink: Sink): void {
    sink.source = this
    this.#sink = sink
    for (const chunk of this.#kept ?? []) sink.write(chunk)
    if (this.#ended) {
      this.#sink = null
      return sink.end(this.#trailers)
    }
    if (this.#size > 0) sink.flush()
    if (this.#started) this.#body.resume()
    else {
      this.#started = true
      this.#body.pipe(this)
    }
  }

  resume(): void {
    this.#body.resume()
  }

  /** Ends one attempt; the body itself stays available for the next. */
  cancel(cause: Error): void {
    this.#sink = null
    if (this.#kept === null) this.#body.cancel(cause)
  }

  write(chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size > MAX_KEPT) this.#kept = null
    else this.#kept?.push(chunk)
    this.#sink?.write(chunk)
  }

  flush(): boolean {
    // Between attempts nothing is read, so at most one chunk waits here.
    return this.#sink !== null && this.#sink.flush()
  }

  end(trailers: HeaderBlock | null): void {
    this.#ended = true
    this.#trailers = trailers
    const sink = this.#sink
    this.#sink = null
    sink?.end(trailers)
  }

  abort(cause: Error): void {
    this.#sink?.abort(cause)
  }
}

const NOT_REPLAYED = new Error('request body not needed')
const MAX_KEPT = 65536
