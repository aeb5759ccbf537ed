import { StreamFault } from './stream-fault.ts'

/** Splits incoming bytes into lines of text; throws when a line is too long or is not UTF-8. */
export class LineReader {
  readonly #limit: number
  readonly #line: (text: string) => void
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  #parts: Buffer[] = []
  #size = 0

  constructor(limit: number, line: (text: string) => void) {
    this.#limit = limit
    this.#line = line
  }

  push(bytes: Buffer): void {
    let start = 0
    for (;;) {
      const end = bytes.indexOf(NEWLINE, start)
      const part = bytes.subarray(start, end < 0 ? bytes.length : end)
      this.#size += part.length
      if (this.#size > this.#limit) throw new StreamFault(`a line is longer than ${this.#limit} bytes`)
      if (end < 0) {
        if (part.length > 0) this.#parts.push(part)
        return
      }
      this.#line(this.#take(part))
      start = end + 1
    }
  }

  #take(last: Buffer): string {
    const whole = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last])
    this.#parts = []
    this.#size = 0
    try {
      return this.#decoder.decode(whole)
    } catch {
      throw new StreamFault('a line is not UTF-8')
    }
  }
}

const NEWLINE = 10
