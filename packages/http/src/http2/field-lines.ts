import { HeaderBlock } from '../fields/header-block.ts'

/**
 * Converts the fields of a head to HTTP/1 lines, so that a message that is sent on over HTTP/1 is forwarded in one
 * piece.
 */
export class FieldLines {
  #text = ''
  readonly #lines: number[] = []

  protected addLine(name: string, value: string): void {
    const at = this.#text.length
    const nameEnd = at + name.length
    const valueEnd = nameEnd + 2 + value.length
    this.#lines.push(at, nameEnd, nameEnd + 2, valueEnd, valueEnd + 2)
    this.#text += name + ': ' + value + '\r\n'
  }

  /** Returns the header block of the lines so far; no line may be added afterwards. */
  toHeaders(): HeaderBlock {
    return new HeaderBlock(this.#text, this.#lines)
  }
}
