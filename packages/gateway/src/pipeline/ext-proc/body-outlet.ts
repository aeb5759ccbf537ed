import type { HeaderBlock, Sink } from '@portico/http'

/** Buffers a body until a sink is attached, and while the sink is full. */
export class BodyOutlet {
  #sink: Sink | null = null
  #queue: Buffer[] = []
  #queuedBytes = 0
  #isStalled = false

  get isOpen(): boolean {
    return this.#sink !== null
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0
  }

  /** Whether a chunk that comes now is forwarded at once, or is the first in the queue. */
  get isFree(): boolean {
    return !this.#isStalled && this.#queue.length === 0
  }

  get waitingBytes(): number {
    return this.#queuedBytes
  }

  /**
   * Begins to write to the sink. The head is flushed when no byte of the body has arrived, because the body may take
   * long.
   */
  open(sink: Sink): void {
    this.#sink = sink
    if (this.isEmpty) this.#isStalled = !sink.flush()
  }

  write(chunk: Buffer): void {
    const sink = this.#sink
    if (sink === null || !this.isFree) {
      this.#queue.push(chunk)
      this.#queuedBytes += chunk.length
    } else {
      sink.write(chunk)
      this.#isStalled = !sink.flush()
    }
  }

  /** The sink takes more. */
  resume(): void {
    this.#isStalled = false
    this.proceed()
  }

  /** Writes the buffered bytes until the sink is full. */
  proceed(): void {
    const sink = this.#sink
    if (sink === null) return
    while (this.#queue.length > 0 && !this.#isStalled) {
      const chunk = this.#queue.shift()
      if (chunk === undefined) break
      this.#queuedBytes -= chunk.length
      sink.write(chunk)
      this.#isStalled = !sink.flush()
    }
  }

  end(trailers: HeaderBlock | null): void {
    const sink = this.#sink
    this.#sink = null
    sink?.end(trailers)
  }

  abort(cause: Error): void {
    this.#sink?.abort(cause)
  }

  clear(): void {
    this.#queue = []
    this.#queuedBytes = 0
  }
}
