/** The beginning and the end of a line that was too long. */
export class LongLine {
  readonly head: string
  readonly tail: string

  constructor(head: string, tail: string) {
    this.head = head
    this.tail = tail
  }
}

/** Splits bytes into lines, without line endings. Only the beginning and end of a line over the limit are kept. */
export class Lines {
  readonly #max: number
  #held: Buffer[] = []
  #heldBytes = 0
  #long: { head: Buffer; tail: Buffer; bytes: number } | null = null

  constructor(maxBytes: number) {
    this.#max = maxBytes
  }

  /** Whether the current line exceeds the limit so far that it will not be waited for. */
  get isFlooded(): boolean {
    return this.#long !== null && this.#long.bytes > FLOOD * this.#max
  }

  /** Returns the non-empty lines that these bytes complete. */
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

  /** Returns the last line, which has no line ending. */
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

/** Copies the end of the bytes, so that a large chunk can be freed. */
function edge(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-EDGE_BYTES))
}

const LF = 0x0a
const CR = 0x0d
const EDGE_BYTES = 256
/** A line may exceed the limit by this factor before it is given up. */
const FLOOD = 8
