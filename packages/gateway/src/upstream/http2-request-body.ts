import type { Sink, Source } from '../net/body.ts'
import type { HeaderBlock } from '../net/header-block.ts'
import type { StreamOutput } from '../net/http2/output.ts'
import { trailerBlock } from '../net/http2/sent-fields.ts'
import type { Carrier } from './http2-carrier.ts'

/** The call that a body belongs to. */
export interface BodyOwner {
  /** The stream; one of its own that takes nothing before the call has a stream. */
  readonly output: StreamOutput
  cancel(cause: Error): void
  /** A callback has thrown: the call ends. */
  faulted(error: unknown): void
}

/** The body of a request on its way into an HTTP/2 stream. */
export class Http2RequestBody implements Sink {
  source: Source | null = null
  /** The whole body was handed over, or nobody wants the rest. */
  isDone = false

  readonly #owner: BodyOwner
  readonly #connection: Pick<Carrier<never>, 'output' | 'flush' | 'faulted'>
  /** A chunk that leaves with the next call, so that a small body and the end share one frame. */
  #held: Buffer | null = null

  constructor(owner: BodyOwner, connection: Pick<Carrier<never>, 'output' | 'flush' | 'faulted'>) {
    this.#owner = owner
    this.#connection = connection
  }

  write(chunk: Buffer): void {
    if (this.isDone || chunk.length === 0) return
    const held = this.#held
    this.#held = chunk
    if (held === null) return
    try {
      this.#connection.output.data(this.#owner.output, held)
    } catch (error) {
      this.#connection.faulted(error)
    }
  }

  flush(): boolean {
    if (this.isDone) return true
    const held = this.#held
    this.#held = null
    const { output } = this.#connection
    try {
      const room = held === null ? output.hasRoom(this.#owner.output) : output.data(this.#owner.output, held)
      this.#connection.flush()
      return room
    } catch (error) {
      this.#connection.faulted(error)
      return true
    }
  }

  end(trailers: HeaderBlock | null): void {
    if (this.isDone) return
    this.isDone = true
    this.source = null
    const held = this.#held
    this.#held = null
    try {
      this.#connection.output.end(this.#owner.output, held, trailerBlock(trailers))
      this.#connection.flush()
    } catch (error) {
      this.#connection.faulted(error)
    }
  }

  abort(cause: Error): void {
    this.#owner.cancel(cause)
  }

  /** Takes no more of the body, and tells its source why. */
  drop(cause: Error): void {
    const { source } = this
    this.source = null
    this.#held = null
    this.isDone = true
    source?.cancel(cause)
  }
}
