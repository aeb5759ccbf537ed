/** Splits bytes into server-sent events, each with the empty line that ends it; chunks may be cut anywhere. */
export class SseRecords {
  /** The beginning of an incomplete record. */
  #held: Buffer[] = []
  #heldLength = 0
  /** The bytes of the open line in earlier chunks, and whether they are a lone CR. */
  #lineLength = 0
  #isReturn = false

  get heldLength(): number {
    return this.#heldLength
  }

  /** Returns the records that these bytes complete, possibly as views of the chunk. */
  push(chunk: Buffer): Buffer[] {
    const records: Buffer[] = []
    let start = 0
    let line = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, line)) {
      const length = this.#lineLength + end - line
      const isEmpty = length === 0 || (length === 1 && (end > line ? chunk[line] === CR : this.#isReturn))
      line = end + 1
      this.#lineLength = 0
      if (!isEmpty) continue
      records.push(this.#taken(chunk.subarray(start, line)))
      start = line
    }
    if (line < chunk.length) this.#isReturn = this.#lineLength === 0 && chunk[line] === CR
    this.#lineLength += chunk.length - line
    if (start < chunk.length) this.#hold(chunk.subarray(start))
    return records
  }

  /** Returns the incomplete last record. */
  end(): Buffer {
    return this.#taken(Buffer.alloc(0))
  }

  #taken(last: Buffer): Buffer {
    if (this.#held.length === 0) return last
    const record = Buffer.concat([...this.#held, last])
    this.#held = []
    this.#heldLength = 0
    return record
  }

  /** Copies the bytes, because the chunk may be a view of a buffer that the next read overwrites. */
  #hold(bytes: Buffer): void {
    this.#held.push(Buffer.from(bytes))
    this.#heldLength += bytes.length
  }
}

const LF = 0x0a
const CR = 0x0d
