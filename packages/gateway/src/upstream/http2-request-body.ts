import type { ClientHttp2Stream } from 'node:http2'
import type { Sink, Source } from '../net/body.ts'
import type { HeaderBlock } from '../net/header-block.ts'

/** The call that a body belongs to. */
export interface BodyOwner {
  cancel(cause: Error): void
  /** A callback has thrown: the call ends. */
  faulted(error: unknown): void
}

/** Runs a callback of the stream; the call ends if it throws. */
export function guarded(owner: BodyOwner, run: () => void): void {
  try {
    run()
  } catch (error) {
    owner.faulted(error)
  }
}

/** The body of a request on its way into an HTTP/2 stream. */
export class Http2RequestBody implements Sink {
  source: Source | null = null
  /** The whole body was handed over, or nobody wants the rest. */
  isDone = false
  trailers: HeaderBlock | null = null

  readonly #owner: BodyOwner
  #stream: ClientHttp2Stream | null = null
  /** A chunk that leaves with the next call, so that a small body and the end share one frame. */
  #held: Buffer | null = null
  #awaitsDrain = false

  constructor(owner: BodyOwner) {
    this.#owner = owner
  }

  attach(stream: ClientHttp2Stream): void {
    this.#stream = stream
  }

  write(chunk: Buffer): void {
    if (this.isDone || this.#gone || chunk.length === 0) return
    const held = this.#held
    this.#held = chunk
    if (held !== null) this.#stream?.write(held)
  }

  flush(): boolean {
    const stream = this.#stream
    if (stream === null || this.isDone || this.#gone) return true
    const held = this.#held
    this.#held = null
    if (held !== null) stream.write(held)
    if (!stream.writableNeedDrain) return true
    if (!this.#awaitsDrain) {
      this.#awaitsDrain = true
      stream.on('drain', () => guarded(this.#owner, () => this.source?.resume()))
    }
    return false
  }

  end(trailers: HeaderBlock | null): void {
    if (this.isDone) return
    this.isDone = true
    this.source = null
    const held = this.#held
    this.#held = null
    if (this.#gone) return
    this.trailers = trailers
    if (held === null) this.#stream?.end()
    else this.#stream?.end(held)
  }

  abort(cause: Error): void {
    this.#owner.cancel(cause)
  }

  /** Takes no more of the body, and tells its source why. */
  drop(cause: Error): void {
    const source = this.source
    this.source = null
    this.#held = null
    this.isDone = true
    source?.cancel(cause)
  }

  get #gone(): boolean {
    return this.#stream === null || this.#stream.destroyed || this.#stream.closed
  }
}
