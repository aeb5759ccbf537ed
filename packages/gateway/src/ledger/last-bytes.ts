import { Deadline, type Deadlines, type HeaderBlock, type Sink, type Source } from '@portico/http'

/** The owner of a response whose end waits for something. */
export interface EndOwner {
  /** Whether the last record of a stream has come, so that nothing but the end of the body follows. */
  readonly isEnding: boolean
  /** Called once, before the last bytes are sent. */
  ending(): void
}

/**
 * Passes a response on, and tells its owner before the client can take the response for complete: before the end, before
 * the last bytes of a body of known length, and before the last record of a stream. Bytes that wait for the end of a
 * stream that does not come are sent after a moment.
 */
export class LastBytes implements Sink {
  readonly #sink: Sink
  readonly #owner: EndOwner
  readonly #deadlines: Deadlines
  /** The bytes of the body that are still to come; -1 for a body of unknown length. */
  #left: number
  /** Bytes that wait for the end. */
  #held: Buffer[] = []
  #heldBytes = 0
  /** The number of held chunks that are no views of a buffer which the next read overwrites. */
  #copied = 0
  /** Set while a stream waits for its end. */
  #moment: Deadline | null = null
  #isLate = false

  constructor(sink: Sink, length: number, owner: EndOwner, deadlines: Deadlines) {
    this.#sink = sink
    this.#left = length
    this.#owner = owner
    this.#deadlines = deadlines
  }

  get source(): Source | null {
    return this.#sink.source
  }

  set source(source: Source | null) {
    this.#sink.source = source
  }

  get takesFramed(): boolean {
    return this.#sink.takesFramed === true && this.#held.length === 0
  }

  writeFramed(framed: string, dataAt: number): boolean {
    return this.#sink.writeFramed?.(framed, dataAt) === true
  }

  write(chunk: Buffer): void {
    if (this.#left > 0) this.#left -= chunk.length
    if (this.#isLate || !(this.#left === -1 ? this.#owner.isEnding : this.#left <= 0)) return this.#sink.write(chunk)
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    // A stream that sends this much after its last record does not end now.
    if (this.#left === -1 && this.#heldBytes > MOST_HELD_BYTES) this.#giveUp()
  }

  /** The end may come with another read. */
  flush(): boolean {
    for (; this.#copied < this.#held.length; this.#copied++) {
      this.#held[this.#copied] = Buffer.from(this.#held[this.#copied] ?? NOTHING)
    }
    if (this.#held.length > 0 && this.#left === -1 && this.#moment === null) {
      this.#moment = new Deadline(() => this.#giveUp())
      this.#deadlines.set(this.#moment, MOMENT_MS)
    }
    return this.#sink.flush()
  }

  end(trailers: HeaderBlock | null): void {
    if (this.#moment !== null) this.#deadlines.clear(this.#moment)
    this.#owner.ending()
    this.#release()
    this.#sink.end(trailers)
  }

  abort(cause: Error): void {
    this.close()
    this.#sink.abort(cause)
  }

  /** Called when the request is over: nothing is sent any more. */
  close(): void {
    if (this.#moment !== null) this.#deadlines.clear(this.#moment)
    this.#held = []
  }

  #release(): void {
    for (const chunk of this.#held) this.#sink.write(chunk)
    this.#held = []
  }

  #giveUp(): void {
    this.#isLate = true
    this.#release()
    this.#sink.flush()
  }
}

const NOTHING = Buffer.alloc(0)
const MOST_HELD_BYTES = 65_536
/** How long the last records of a stream wait for the end of the body. */
const MOMENT_MS = 100
