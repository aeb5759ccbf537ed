/** What is left of a line that was too long: how it begins and ends. */
export class LongLine {
  readonly head: string
  readonly tail: string

  constructor(head: string, tail: string) {
    this.head = head
    this.tail = tail
  }
}

/** Lines as bytes arrive, without what ends them. Of one that is too long only the edges are kept. */
export class Lines {
  readonly #max: number
  #held: Buffer[] = []
  #heldBytes = 0
  #long: { head: Buffer; tail: Buffer; bytes: number } | null = null

  constructor(maxBytes: number) {
    this.#max = maxBytes
  }

  /** A line has no end in sight: it is no line. */
  get isFlooded(): boolean {
    return this.#long !== null && this.#long.bytes > FLOOD * this.#max
  }

  /** Lines that these bytes complete; empty ones are left out. */
  push(chunk: Buffer): (Buffer | LongLine)[] {
    const lines: (Buffer | LongLine)[] = []
    let start = 0
    for (;;) {
      const end = chunk.indexOf(LF, start)
      this.#hold(chunk.subarray(start, end === -1 ? chunk.length : end))
      if (end === -1) return lines
      start = end + 1
      const line = this.#takeHeld()
      if (line instanceof LongLine || line.length > 0) lines.push(line)
    }
  }

  /** What has no end of its own. */
  end(): (Buffer | LongLine)[] {
    const line = this.#takeHeld()
    return line instanceof LongLine || line.length > 0 ? [line] : []
  }

  #hold(piece: Buffer): void {
    if (this.#long !== null) {
      this.#long.bytes += piece.length
      this.#long.tail = edge(Buffer.concat([this.#long.tail, piece.subarray(-EDGE_BYTES)]))
      return
    }
    this.#held.push(piece)
    this.#heldBytes += piece.length
    if (this.#heldBytes <= this.#max) return
    const line = Buffer.concat(this.#held)
    this.#long = { head: Buffer.from(line.subarray(0, EDGE_BYTES)), tail: edge(line), bytes: line.length }
    this.#held = []
    this.#heldBytes = 0
  }

  #takeHeld(): Buffer | LongLine {
    const long = this.#long
    if (long !== null) {
      this.#long = null
      return new LongLine(long.head.toString('latin1'), long.tail.toString('latin1').trimEnd())
    }
    const [first] = this.#held
    const line = first !== undefined && this.#held.length === 1 ? first : Buffer.concat(this.#held)
    this.#held = []
    this.#heldBytes = 0
    return line.at(-1) === CR ? line.subarray(0, -1) : line
  }
}

/** A copy, so that the rest of a large chunk can go. */
function edge(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-EDGE_BYTES))
}

const LF = 0x0a
const CR = 0x0d
const EDGE_BYTES = 256
/** How much longer than allowed a line may be and still be waited for. */
const FLOOD = 8
