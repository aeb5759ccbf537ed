/** Lines as bytes arrive, without what ends them. */
export class Lines {
  readonly #max: number
  #held: Buffer[] = []
  #heldBytes = 0
  #isOverflown = false

  constructor(maxBytes: number) {
    this.#max = maxBytes
  }

  /** A line was longer than allowed: nothing is read any more. */
  get isOverflown(): boolean {
    return this.#isOverflown
  }

  /** Lines that these bytes complete; empty ones are left out. */
  push(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = []
    let start = 0
    while (!this.#isOverflown) {
      const end = chunk.indexOf(LF, start)
      const piece = chunk.subarray(start, end === -1 ? chunk.length : end)
      if (this.#heldBytes + piece.length > this.#max) {
        this.#isOverflown = true
        this.#held = []
        break
      }
      this.#held.push(piece)
      this.#heldBytes += piece.length
      if (end === -1) break
      start = end + 1
      const line = this.#takeHeld()
      if (line.length > 0) lines.push(line)
    }
    return lines
  }

  /** What has no end of its own. */
  end(): Buffer[] {
    const line = this.#takeHeld()
    return line.length > 0 ? [line] : []
  }

  #takeHeld(): Buffer {
    const line = this.#held.length === 1 ? this.#held[0]! : Buffer.concat(this.#held)
    this.#held = []
    this.#heldBytes = 0
    return line.at(-1) === CR ? line.subarray(0, -1) : line
  }
}

const LF = 0x0a
const CR = 0x0d
