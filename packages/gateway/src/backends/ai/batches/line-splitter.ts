/** Splits a file into lines while the file arrives. */
export class LineSplitter {
  readonly #limit: number
  readonly #line: (line: Buffer) => void
  #kept: Buffer[] = []
  #size = 0

  /** `line` is called with each line and its line break, in a buffer of its own; `limit` is the longest line, in bytes. */
  constructor(limit: number, line: (line: Buffer) => void) {
    this.#limit = limit
    this.#line = line
  }

  /** Reads a chunk, which the caller may overwrite afterward; returns false when a line is too long. */
  push(chunk: Buffer): boolean {
    let at = 0
    for (;;) {
      const end = chunk.indexOf(LF, at) + 1
      const piece = chunk.subarray(at, end === 0 ? chunk.length : end)
      this.#size += piece.length
      if (this.#size > this.#limit) return false
      if (piece.length > 0) this.#kept.push(Buffer.from(piece))
      if (end === 0) return true
      this.end()
      at = end
    }
  }

  /** Ends the file, and passes a last line without a line break on. */
  end(): void {
    if (this.#size === 0) return
    const line = this.#kept.length === 1 && this.#kept[0] !== undefined ? this.#kept[0] : Buffer.concat(this.#kept)
    this.#kept = []
    this.#size = 0
    this.#line(line)
  }
}

const LF = 0x0a
