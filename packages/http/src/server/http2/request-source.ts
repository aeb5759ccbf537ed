import type { Sink, Source } from '../../body/body.ts'
import type { HeaderBlock } from '../../fields/header-block.ts'
import { LARGE_CHUNK } from '../../http2/fields.ts'
import { ReceiveWindow } from '../../http2/receive-window.ts'
import { WaitingBody } from '../../http2/waiting-body.ts'
import { contained } from '../../runtime/faults.ts'
import type { RequestOwner, WindowLimits } from './exchange-contracts.ts'
import type { RequestHead } from './request-head.ts'

/** A request body on its way out of an HTTP/2 stream. */
export class Http2RequestSource implements Source {
  readonly owner: RequestOwner
  readonly length: number
  /** Body bytes delivered so far. */
  bytes = 0
  /** Bytes that the client sent through its tunnel. */
  tunnelBytes = 0
  /** Whether the stream carries a tunnel: its data is not a body. */
  isTunnelOpen = false
  /** Whether the whole request has been read, or the rest is not needed. */
  isDone: boolean
  /** Whether the client has ended its side of the stream. */
  hasEnded = false

  readonly #window: ReceiveWindow
  #sink: Sink | null = null
  /** Why the rest of the request will not arrive. */
  #failure: Error | null = null
  /** Received data that was not consumed yet, bounded by the window. */
  #waiting: WaitingBody | null = null
  #received = 0
  #trailers: HeaderBlock | null = null
  #mustContinue: boolean
  /** Whether further data is dropped. */
  #isDropping = false
  #flushIsDue = false
  #unflushed = 0
  /** Whether the consumer is blocked. */
  #isBlocked = false

  constructor(owner: RequestOwner, head: RequestHead, limits: WindowLimits) {
    this.owner = owner
    this.#window = new ReceiveWindow(limits.windowSize, limits.largestWindowSize)
    this.length = head.length
    this.isDone = head.length === 0
    this.#mustContinue = head.expectContinue
  }

  /** Whether the consumer waits for data from the client. */
  get awaitsClient(): boolean {
    return (this.#sink !== null || this.#isDropping) && !this.isDone && !this.#isBlocked
  }

  // Frames from the client.

  /** `padding` counts only for the window. Returns false when the client exceeds its window. */
  takeData(chunk: Buffer, padding: number, ends: boolean): boolean {
    if (!this.#window.take(chunk.length + padding)) return false
    this.#received += chunk.length
    if (!this.#isLengthRight(ends)) {
      this.owner.refuseLength()
      return true
    }
    if (ends) this.hasEnded = true
    this.#giveBack(padding)
    try {
      if (chunk.length > 0) this.#take(chunk)
      if (ends) this.#endInput()
    } catch (error) {
      this.owner.faulted(error)
    }
    return true
  }

  takeTrailers(trailers: HeaderBlock): void {
    this.hasEnded = true
    if (!this.#isLengthRight(true)) return this.owner.refuseLength()
    this.#trailers = trailers
    try {
      this.#endInput()
    } catch (error) {
      this.owner.faulted(error)
    }
  }

  #isLengthRight(ends: boolean): boolean {
    if (this.length === -1) return true
    return ends ? this.#received === this.length : this.#received <= this.length
  }

  #take(chunk: Buffer): void {
    if (this.#isDropping || this.isDone) return this.#pass(chunk)
    if (this.#sink === null || this.#isBlocked) {
      this.#waiting ??= new WaitingBody()
      return this.#waiting.add(chunk)
    }
    this.#pass(chunk)
    if (chunk.length < LARGE_CHUNK || this.#unflushed >= MOST_UNFLUSHED) return this.flush()
    if (this.#flushIsDue) return
    this.#flushIsDue = true
    setImmediate(flushDue, this)
  }

  #pass(chunk: Buffer): void {
    if (this.isTunnelOpen) this.tunnelBytes += chunk.length
    else this.bytes += chunk.length
    this.#unflushed += chunk.length
    this.#sink?.write(chunk)
    this.#giveBack(chunk.length)
  }

  /** Extends the client's window by these bytes, in batches. */
  #giveBack(bytes: number): void {
    if (this.hasEnded || this.owner.isClosed) return
    const granted = this.#window.release(bytes)
    if (granted !== 0) this.owner.grant(granted)
  }

  #endInput(): void {
    if (this.#waiting === null && !this.#isBlocked && (this.#sink !== null || this.#isDropping)) this.#end()
    this.owner.inputOver()
  }

  #end(): void {
    if (this.isDone) return
    const sink = this.#sink
    this.isDone = true
    this.#sink = null
    sink?.end(this.#trailers)
  }

  /** Delivers the received data. */
  flush(): void {
    this.#flushIsDue = false
    this.#unflushed = 0
    if (this.#sink !== null && !this.#isBlocked && !this.#sink.flush()) this.#isBlocked = this.#sink !== null
  }

  // Source: what the consumer asks for.

  pipe(sink: Sink): void {
    if (this.#failure !== null) return sink.abort(this.#failure)
    if (this.isDone) return sink.end(null)
    this.#sink = sink
    sink.source = this
    if (this.#mustContinue) this.owner.sendContinue()
    this.#mustContinue = false
    this.#passWaiting()
  }

  resume(): void {
    if (!this.#isBlocked) return
    this.#isBlocked = false
    this.#passWaiting()
  }

  /** Delivers the waiting data, and the end if it has arrived. */
  #passWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting !== null) {
      for (const chunk of waiting.takeAll()) this.#pass(chunk)
      if (!this.hasEnded) this.flush()
    }
    if (this.hasEnded && !this.owner.isClosed) this.#end()
    // Sends the granted windows to the client.
    this.owner.flushFrames()
  }

  /** Further data is dropped until the response is complete; then the stream is reset. */
  cancel(): void {
    this.#sink = null
    this.#drop()
  }

  #drop(): void {
    this.#isDropping = true
    this.#isBlocked = false
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting !== null) this.#giveBack(waiting.size)
  }

  // Requests from the exchange.

  /** Called when the response is complete: the rest of the request is not needed. */
  discard(cause: Error): void {
    if (this.isDone) return
    this.abandon(cause)
    this.#drop()
  }

  /** Called when the rest of the request will not arrive. */
  abandon(cause: Error): void {
    if (this.isDone) return
    const sink = this.#sink
    this.#sink = null
    this.#waiting = null
    this.isDone = true
    this.#failure = cause
    if (sink !== null) contained('connection', () => sink.abort(cause))
  }
}

/** Delivers the data that a large chunk left unflushed. */
function flushDue(source: Http2RequestSource): void {
  try {
    source.flush()
  } catch (error) {
    source.owner.faulted(error)
  }
}

/** Bytes written to the consumer of a body before `flush` asks whether it can take more. */
const MOST_UNFLUSHED = 49_152
