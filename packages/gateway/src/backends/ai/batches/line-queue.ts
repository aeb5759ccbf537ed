/** The outcome of a check of one line: the bytes to send, or the refusal that ends the file at this line. */
export type LineOutcome<Refusal> = { readonly bytes: Buffer } | { readonly refusal: Refusal }

export type LineCheck<Refusal> = (line: Buffer, number: number) => LineOutcome<Refusal> | Promise<LineOutcome<Refusal>>

interface QueueParts<Refusal> {
  /** Receives bytes in order. `line` is the number of the line; 0 for bytes that are no line. */
  write(bytes: Buffer, line: number): void
  refused(refusal: Refusal): void
  failed(error: unknown): void
  /** Called when the queue has become empty. */
  drained(): void
}

interface Piece {
  /** The bytes to write; null while the line is checked. */
  bytes: Buffer | null
  readonly line: Buffer | null
  readonly number: number
  isChecked: boolean
}

/** Keeps the lines of a file in order while several lines are checked at once, because checks may wait for services. */
export class LineQueue<Refusal> {
  /** The check of lines; null until lines can be checked. The queue writes nothing before. */
  check: LineCheck<Refusal> | null = null
  readonly #parts: QueueParts<Refusal>
  readonly #pieces: Piece[] = []
  #checking = 0
  #isOver = false
  #hasWaited = false

  constructor(parts: QueueParts<Refusal>) {
    this.#parts = parts
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0
  }

  /** Adds bytes that are sent without a check. */
  add(bytes: Buffer): void {
    this.#pieces.push({ bytes, line: null, number: 0, isChecked: true })
  }

  addLine(line: Buffer, number: number): void {
    this.#pieces.push({ bytes: null, line, number, isChecked: false })
  }

  /** Starts checks and writes the checked lines at the head of the queue. */
  pump(): void {
    if (this.check === null) return
    for (const piece of this.#pieces) {
      if (this.#isOver || this.#checking >= MOST_CHECKS) break
      if (!piece.isChecked) this.#begin(piece, this.check)
    }
    let written = 0
    for (const piece of this.#pieces) {
      if (this.#isOver || piece.bytes === null) break
      written++
      this.#parts.write(piece.bytes, piece.number)
    }
    this.#pieces.splice(0, written)
    if (this.#isOver) return
    if (this.#pieces.length > 0) this.#hasWaited = true
    else if (this.#hasWaited) {
      this.#hasWaited = false
      this.#parts.drained()
    }
  }

  /** Drops all lines that wait. */
  stop(): void {
    this.#isOver = true
    this.#pieces.length = 0
  }

  #begin(piece: Piece, check: LineCheck<Refusal>): void {
    piece.isChecked = true
    const outcome = piece.line === null ? { bytes: NO_BYTES } : check(piece.line, piece.number)
    if (!(outcome instanceof Promise)) return this.#end(piece, outcome)
    this.#checking++
    outcome.then(
      (later) => {
        this.#checking--
        if (this.#isOver) return
        this.#end(piece, later)
        this.pump()
      },
      (error: unknown) => {
        if (this.#isOver) return
        this.stop()
        this.#parts.failed(error)
      },
    )
  }

  #end(piece: Piece, outcome: LineOutcome<Refusal>): void {
    if (this.#isOver) return
    if ('bytes' in outcome) piece.bytes = outcome.bytes
    else {
      this.stop()
      this.#parts.refused(outcome.refusal)
    }
  }
}

const NO_BYTES = Buffer.alloc(0)
/** The most checks of one file that run at once. */
const MOST_CHECKS = 16
