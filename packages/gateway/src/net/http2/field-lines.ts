import { HeaderBlock } from '../header-block.ts'

/** The fields of a head, which become HTTP/1 lines at once: a message that goes on over HTTP/1 is then forwarded in one piece. */
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

  /** The block of the lines so far; no line is added after it. */
  toHeaders(): HeaderBlock {
    return new HeaderBlock(this.#text, this.#lines)
  }
}
