/** The replacement of a part of a text, from offset `from` up to `to`. */
export interface TextEdit {
  from: number
  to: number
  replacement: string
}

/** A text with some parts replaced, which maps locations of the result to locations of the source. */
export class EditedText {
  readonly text: string
  /** Sorted, without overlaps. */
  readonly #edits: readonly TextEdit[]
  readonly #source: string

  constructor(source: string, edits: readonly TextEdit[]) {
    this.#source = source
    this.#edits = edits.toSorted((a, b) => a.from - b.from)
    let text = ''
    let last = 0
    for (const { from, to, replacement } of this.#edits) {
      text += source.slice(last, from) + replacement
      last = to
    }
    this.text = text + source.slice(last)
  }

  /** The location in the source; for a location inside of a replacement, the start of the replaced part. */
  sourcePlace({ line, column }: { line: number; column: number }): { line: number; column: number } {
    return positionAt(this.#source, this.#sourceOffset(offsetAt(this.text, line, column)))
  }

  #sourceOffset(offset: number): number {
    let shift = 0
    for (const { from, to, replacement } of this.#edits) {
      const start = from + shift
      if (offset < start) break
      if (offset < start + replacement.length) return from
      shift += replacement.length - (to - from)
    }
    return offset - shift
  }
}

export function positionAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - (before.lastIndexOf('\n') + 1) + 1 }
}

function offsetAt(text: string, line: number, column: number): number {
  let start = 0
  for (let i = 1; i < line; i++) {
    const end = text.indexOf('\n', start)
    if (end < 0) break
    start = end + 1
  }
  return Math.min(start + column - 1, text.length)
}
