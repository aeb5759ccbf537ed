import type { HeaderBlock } from './header-block.ts'

/**
 * Receives one body, chunk by chunk.
 * Order of calls: any number of `write` and `flush`, then exactly one of `end` and `abort`.
 */
export interface Sink {
  /** Set by the source that feeds this sink; the sink calls `source.resume()` once it can take more. */
  source: Source | null
  /** Takes the chunk; it may leave only with the next flush, so that small pieces go in one system call. */
  write(chunk: Buffer): void
  /** Called after each batch of writes. False asks the source to stop until its `resume` is called. */
  flush(): boolean
  end(trailers: HeaderBlock | null): void
  abort(cause: Error): void
}

/** Gives one body. Nothing is read from the peer before `pipe` is called. */
export interface Source {
  /** Bytes the body has: 0 for none, -1 when only its end will tell. */
  readonly length: number
  /** Everything given so far is still at hand: after a `cancel`, `pipe` begins anew. Left out, it does not. */
  readonly whole?: boolean
  pipe(sink: Sink): void
  resume(): void
  /** The consumer wants no more; the sink will not be called again. */
  cancel(cause: Error): void
}

/** Whether a body, or what was given of it so far, can be given once more. */
export function isAtHand(body: Source): boolean {
  return body.length === 0 || body.whole === true
}

/** The source of a message without a body. */
export const emptySource: Source = {
  length: 0,
  pipe: (sink) => sink.end(null),
  resume: () => {},
  cancel: () => {},
}

/** A body that is already whole. Trailers can follow only one whose length nobody announced. */
export function sourceOf(bytes: Buffer, trailers: HeaderBlock | null = null): Source {
  return bytes.length === 0 && trailers === null ? emptySource : new WholeSource(bytes, trailers)
}

class WholeSource implements Source {
  readonly length: number
  readonly whole = true
  readonly #bytes: Buffer
  readonly #trailers: HeaderBlock | null
  #isCancelled = false

  constructor(bytes: Buffer, trailers: HeaderBlock | null) {
    this.length = trailers === null ? bytes.length : -1
    this.#bytes = bytes
    this.#trailers = trailers
  }

  pipe(sink: Sink): void {
    this.#isCancelled = false
    sink.source = this
    sink.write(this.#bytes)
    if (!this.#isCancelled) sink.end(this.#trailers)
  }

  resume(): void {}

  cancel(): void {
    this.#isCancelled = true
  }
}

/** Drops whatever arrives. */
export function discardingSink(done: () => void): Sink {
  return { source: null, write: () => {}, flush: () => true, end: done, abort: done }
}
