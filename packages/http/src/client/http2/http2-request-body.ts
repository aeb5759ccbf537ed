import type { Sink, Source } from '../../body/body.ts'
import type { HeaderBlock } from '../../fields/header-block.ts'
import type { StreamOutput } from '../../http2/output.ts'
import { trailerBlock } from '../../http2/sent-fields.ts'
import type { Carrier } from './http2-carrier.ts'

/** The call that a body belongs to. */
export interface BodyOwner {
  /** The output of the call's stream; before the call has a stream, a placeholder that accepts nothing. */
  readonly output: StreamOutput
  cancel(cause: Error): void
  /** Ends the call, because a callback has thrown. */
  faulted(error: unknown): void
}

/** A request body on its way into an HTTP/2 stream. */
export class Http2RequestBody implements Sink {
  source: Source | null = null
  /** Whether the whole body was written, or the rest is not needed. */
  isDone = false

  readonly #owner: BodyOwner
  readonly #connection: Pick<Carrier<never>, 'output' | 'flush' | 'faulted'>
  /** A chunk that is held back until the next call, so that a small body and the end share one frame. */
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

  /** Stops reading the body and cancels its source. */
  drop(cause: Error): void {
    const { source } = this
    this.source = null
    this.#held = null
    this.isDone = true
    source?.cancel(cause)
  }
}
