import type { HeaderBlock } from '../fields/header-block.ts'

/**
 * Receives one body, chunk by chunk.
 * Order of calls: any number of `write` and `flush`, then exactly one of `end` and `abort`.
 */
export interface Sink {
  /** Set by the source that feeds this sink; the sink calls `source.resume()` once it can take more. */
  source: Source | null
  /** Accepts the chunk, which may be sent only with the next flush, so that small pieces share a system call. */
  write(chunk: Buffer): void
  /** Whether `writeFramed` may be called now. Undefined means false. */
  readonly takesFramed?: boolean
  /**
   * Accepts one chunk of a chunked body in wire format, as latin1: a size line, the data from `dataAt`, and a line
   * break. It takes the place of a `write`, and needs no buffer. Returns false when the sink accepted nothing, because
   * it needs the data as bytes.
   */
  writeFramed?(framed: string, dataAt: number): boolean
  /** Called after each batch of writes. False asks the source to stop until its `resume` is called. */
  flush(): boolean
  end(trailers: HeaderBlock | null): void
  abort(cause: Error): void
}

/** Provides one body. Nothing is read from the peer before `pipe` is called. */
export interface Source {
  /** Number of bytes; 0 for an empty body, -1 when unknown. */
  readonly length: number
  /**
   * Whether everything delivered so far is still available, so that after a `cancel`, `pipe` starts over. Undefined
   * means false.
   */
  readonly whole?: boolean
  pipe(sink: Sink): void
  resume(): void
  /** Called when the consumer wants no more; the sink will not be called again. */
  cancel(cause: Error): void
}

/** Returns whether a body, or its delivered part, can be delivered once more. */
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

/** Returns a source for bytes in memory. Trailers are possible only when the length was not announced. */
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

/** Returns a sink that drops everything. */
export function discardingSink(done: () => void): Sink {
  return { source: null, write: () => {}, flush: () => true, end: done, abort: done }
}
