import type { Sink, Source } from '../../body/body.ts'
import type { HeaderBlock } from '../../fields/header-block.ts'
import { ReceiveWindow } from '../../http2/receive-window.ts'
import { WaitingBody } from '../../http2/waiting-body.ts'

/** The call that a response belongs to. */
export interface ResponseOwner {
  cancel(cause: Error): void
  /** Lets the backend send this many more bytes. */
  grant(bytes: number): void
  /** Sends the granted windows. */
  flush(): void
}

/** The states of a response. */
export const HEAD = 0
export const BODY = 1
/** The response is complete and was delivered; the request may not be complete. */
export const ENDED = 2
export const DEAD = 3

/** A response body on its way out of an HTTP/2 stream. */
export class Http2ResponseBody implements Source {
  /** Bytes announced by the head; -1 when not announced. */
  length = -1
  state = HEAD
  /** Why the rest of the body will not arrive. */
  cause: Error
  /** The consumer. The call takes it away when the call itself reports a failure. */
  sink: Sink | null = null
  /** Whether the backend has sent END_STREAM and nothing is missing. */
  isWhole = false

  readonly #owner: ResponseOwner
  readonly #window = new ReceiveWindow(STREAM_WINDOW)
  #trailers: HeaderBlock | null = null
  #received = 0
  #unflushed = 0
  #blocked = false
  /** Body data that arrived before the consumer asked for it, bounded by the window. */
  #waiting: WaitingBody | null = null

  constructor(owner: ResponseOwner, cause: Error) {
    this.#owner = owner
    this.cause = cause
  }

  // Data from the backend.

  /** Counts received bytes; returns false when the backend exceeds its window. */
  count(bytes: number, padding: number): boolean {
    this.#received += bytes
    return this.#window.take(bytes + padding)
  }

  /** Returns whether the counted bytes agree with the announced length so far. */
  hasRightLength(ends: boolean): boolean {
    if (this.length === -1) return true
    return ends ? this.#received === this.length : this.#received <= this.length
  }

  take(chunk: Buffer): void {
    if (this.state !== BODY) return
    if (this.sink === null || this.#blocked) {
      this.#waiting ??= new WaitingBody()
      return this.#waiting.add(chunk)
    }
    this.#pass(chunk, this.sink)
    if (this.#unflushed >= MOST_UNFLUSHED) this.flush()
  }

  /** Called with the trailers after the last byte has arrived. */
  takeEnd(trailers: HeaderBlock | null): void {
    this.isWhole = true
    this.#trailers = trailers
    if (this.state === BODY && this.sink !== null && !this.#blocked) this.#end(this.sink)
  }

  #pass(chunk: Buffer, sink: Sink): void {
    this.#unflushed += chunk.length
    sink.write(chunk)
    this.giveBack(chunk.length)
  }

  /** Extends the backend's window by these bytes, in batches. */
  giveBack(bytes: number): void {
    if (this.isWhole || this.state === DEAD) return
    const granted = this.#window.release(bytes)
    if (granted > 0) this.#owner.grant(granted)
  }

  /** Delivers the received data. */
  flush(): void {
    this.#unflushed = 0
    if (this.state === BODY && this.sink !== null && !this.#blocked && !this.sink.flush()) {
      this.#blocked = this.sink !== null
    }
  }

  #end(sink: Sink): void {
    this.state = ENDED
    this.sink = null
    try {
      sink.end(this.#trailers)
    } catch (error) {
      // The call still needs the sink, to abort the response.
      this.sink = sink
      throw error
    }
  }

  // Source: what the consumer asks for.

  pipe(sink: Sink): void {
    sink.source = this
    if (this.state === ENDED) return sink.end(this.#trailers)
    if (this.state === DEAD) return sink.abort(this.cause)
    this.sink = sink
    this.#passWaiting()
  }

  resume(): void {
    if (!this.#blocked) return
    this.#blocked = false
    this.#passWaiting()
  }

  #passWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = null
    for (const chunk of waiting?.takeAll() ?? NO_CHUNKS) {
      // `write` may have canceled the call.
      if (this.sink === null) return
      this.#pass(chunk, this.sink)
    }
    if (this.sink === null) return
    if (this.isWhole) return this.#end(this.sink)
    if (waiting !== null) this.flush()
    // Sends the granted windows to the backend.
    this.#owner.flush()
  }

  cancel(cause: Error): void {
    this.#owner.cancel(cause)
  }

  /** Drops the data that was not delivered and the consumer; the call must notify the consumer. */
  die(cause: Error): void {
    this.sink = null
    this.#waiting = null
    if (this.state === ENDED) return
    this.state = DEAD
    this.cause = cause
  }
}

const NO_CHUNKS: readonly Buffer[] = []
/** Bytes that one stream may have in flight: 25 MB/s at a latency of 10 ms. */
export const STREAM_WINDOW = 262_144
/** Bytes written to the consumer of a body before `flush` asks whether it can take more. */
const MOST_UNFLUSHED = 49_152
