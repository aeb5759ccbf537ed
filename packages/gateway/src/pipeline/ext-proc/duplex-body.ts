import type { HeaderBlock, Sink, Source } from '@portico/http'
import { BodyOutlet } from './body-outlet.ts'

/** The receiver of a body in pieces, which returns the new body. */
export interface BodyPeer {
  /** It takes nothing at the moment. */
  readonly isBlocked: boolean
  /** Whether sent pieces are stored until the response, so that the old body can still be sent. */
  readonly keepsPieces: boolean
  give(chunk: Buffer): void
  giveEnd(trailers: HeaderBlock | null): void
  /** The body broke off. */
  lost(cause: Error): void
  /** Whether the body is full, or over, may have changed. */
  changed(): void
}

/** A body that streams to a processor and back, each direction at its own pace. */
export class DuplexBody implements Source, Sink {
  source: Source | null = null
  readonly #body: Source
  readonly #peer: BodyPeer
  /**
   * The length of the old body until the head is final; then the length of the new body, if the whole new body has
   * arrived.
   */
  #length: number
  /** Buffers the bytes that come back. */
  readonly #outlet = new BodyOutlet()
  #isPaused = false
  #hasGiven = false
  #isPassing = false
  #inputEnd: { trailers: HeaderBlock | null } | null = null
  #outputEnd: { trailers: HeaderBlock | null } | null = null
  #failure: Error | null = null
  #isOver = false

  constructor(body: Source, peer: BodyPeer) {
    this.#body = body
    this.#peer = peer
    this.#length = body.length
  }

  get length(): number {
    return this.#length
  }

  /** The processor has bytes that did not come back: the old body cannot go on. */
  get isGivenAway(): boolean {
    return this.#hasGiven && !this.#peer.keepsPieces && this.#outputEnd === null && !this.#isOver
  }

  /** Whether the whole body was sent, and its end has not come back. */
  get isOwed(): boolean {
    return this.#inputEnd !== null && this.#outputEnd === null && !this.#isOver
  }

  /** Whether so many bytes wait here that the processor should pause. */
  get isFull(): boolean {
    return this.#outlet.waitingBytes > MAX_WAITING
  }

  /** Nothing more comes back. */
  get isDone(): boolean {
    return this.#isOver || this.#outputEnd !== null
  }

  get hasEnded(): boolean {
    return this.#inputEnd !== null
  }

  start(): void {
    this.#body.pipe(this)
  }

  /** Makes the head final. The head has a content length only if the whole new body has arrived. */
  commit(): void {
    if (this.#outputEnd === null) this.#length = -1
  }

  /** The processor is gone before it got any bytes: the body passes unchanged. */
  pass(): void {
    if (this.isDone) return
    this.#isPassing = true
    if (this.#inputEnd !== null) this.#finish(this.#inputEnd.trailers)
    else this.drained()
  }

  /** The other side of the peer takes more. */
  drained(): void {
    if (!this.#isPaused || this.#isOver || !this.flush()) return
    this.#isPaused = false
    this.source?.resume()
  }

  // From the processor.

  take(chunk: Buffer): void {
    if (this.isDone || chunk.length === 0) return
    this.#outlet.write(chunk)
    this.#peer.changed()
  }

  takeEnd(trailers: HeaderBlock | null): void {
    if (this.isDone) return
    // The processor may end the new body before it got all of the old one.
    if (this.#inputEnd === null) this.#body.cancel(CUT)
    this.#finish(trailers)
  }

  // From the body.

  write(chunk: Buffer): void {
    if (this.isDone) return
    if (this.#isPassing) return this.#outlet.write(Buffer.from(chunk))
    this.#hasGiven = true
    this.#peer.give(chunk)
  }

  flush(): boolean {
    const isFree = this.#outlet.isFree && (this.#isPassing || !this.#peer.isBlocked)
    if (!isFree) this.#isPaused = true
    return isFree
  }

  end(trailers: HeaderBlock | null): void {
    if (this.isDone) return
    this.#inputEnd = { trailers }
    if (this.#isPassing) this.#finish(trailers)
    else this.#peer.giveEnd(trailers)
  }

  abort(cause: Error): void {
    if (this.isDone) return
    this.#isOver = true
    this.#failure = cause
    this.#outlet.abort(cause)
    this.#peer.lost(cause)
  }

  // The side of the reader of the new body.

  pipe(sink: Sink): void {
    sink.source = this
    if (this.#failure !== null) return sink.abort(this.#failure)
    this.#outlet.open(sink)
    this.#proceed()
  }

  resume(): void {
    this.#outlet.resume()
    this.#proceed()
  }

  #proceed(): void {
    if (!this.#outlet.isOpen || this.#isOver) return
    this.#outlet.proceed()
    if (this.#outlet.isEmpty && this.#outputEnd !== null) this.#close(this.#outputEnd.trailers)
    else this.drained()
    this.#peer.changed()
  }

  cancel(cause: Error): void {
    if (this.#isOver) return
    const isUnread = this.#inputEnd === null && this.#outputEnd === null
    this.#isOver = true
    this.#outlet.clear()
    if (isUnread) this.#body.cancel(cause)
    this.#peer.changed()
  }

  #finish(trailers: HeaderBlock | null): void {
    this.#outputEnd = { trailers }
    if (!this.#outlet.isOpen) this.#length = trailers === null ? this.#outlet.waitingBytes : -1
    if (this.#outlet.isOpen && this.#outlet.isEmpty) this.#close(trailers)
    this.#peer.changed()
  }

  #close(trailers: HeaderBlock | null): void {
    this.#isOver = true
    this.#outlet.end(trailers)
  }
}

const CUT = new Error('the processor has ended the body')
/** Limit of waiting bytes, larger than what is in flight to the processor, so that one direction rarely blocks the other. */
const MAX_WAITING = 1_048_576
