import type { Sink, Source } from '../net/body.ts'
import type { HeaderBlock } from '../net/header-block.ts'
import { ReceiveWindow } from '../net/http2/receive-window.ts'
import { WaitingBody } from '../net/http2/waiting-body.ts'

/** The call that a response belongs to. */
export interface ResponseOwner {
  cancel(cause: Error): void
  /** Lets the backend send so many more bytes. */
  grant(bytes: number): void
  /** Sends the windows that were granted. */
  flush(): void
}

/** How far a response has come. */
export const HEAD = 0
export const BODY = 1
/** The response is whole, and was handed on; the request may not be. */
export const ENDED = 2
export const DEAD = 3

/** The body of a response on its way out of an HTTP/2 stream. */
export class Http2ResponseBody implements Source {
  /** Bytes that the head announced; -1 when it did not. */
  length = -1
  state = HEAD
  /** Why the rest will not come. */
  cause: Error
  /** The consumer; the call takes it away to tell it of a failure itself. */
  sink: Sink | null = null
  /** The backend has sent END_STREAM, and nothing is missing. */
  isWhole = false

  readonly #owner: ResponseOwner
  readonly #window = new ReceiveWindow(STREAM_WINDOW)
  #trailers: HeaderBlock | null = null
  #received = 0
  #unflushed = 0
  #blocked = false
  /** Body that arrived before the consumer asked for it; the window bounds it. */
  #waiting: WaitingBody | null = null

  constructor(owner: ResponseOwner, cause: Error) {
    this.#owner = owner
    this.cause = cause
  }

  // What the backend sends.

  /** Counts what has come. False when the backend sends more than it may. */
  count(bytes: number, padding: number): boolean {
    this.#received += bytes
    return this.#window.take(bytes + padding)
  }

  /** Whether what was counted is as long as announced, as far as it has come. */
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

  /** The last byte has come, and the trailers. */
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

  /** Lets the backend send as much again, by and by. */
  giveBack(bytes: number): void {
    if (this.isWhole || this.state === DEAD) return
    const granted = this.#window.release(bytes)
    if (granted > 0) this.#owner.grant(granted)
  }

  /** Hands on what has come of the response. */
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
      // The call must still find the sink, to abort the response.
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
      // A write may have cancelled the call.
      if (this.sink === null) return
      this.#pass(chunk, this.sink)
    }
    if (this.sink === null) return
    if (this.isWhole) return this.#end(this.sink)
    if (waiting !== null) this.flush()
    // The backend hears of its windows.
    this.#owner.flush()
  }

  cancel(cause: Error): void {
    this.#owner.cancel(cause)
  }

  /** Gives up what is not handed on, and the consumer, who has to hear of it from the call. */
  die(cause: Error): void {
    this.sink = null
    this.#waiting = null
    if (this.state === ENDED) return
    this.state = DEAD
    this.cause = cause
  }
}

const NO_CHUNKS: readonly Buffer[] = []
/** What one stream may have on its way: 25 MB/s at a distance of 10 ms. */
export const STREAM_WINDOW = 262_144
/** What is given to the consumer of a body before it is asked whether it can take more. */
const MOST_UNFLUSHED = 49_152
