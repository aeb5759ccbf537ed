/** The text of an item of a long list. */
export interface CutItem {
  /** From its dash to the line before the next one, indented as it was: columns stay right. */
  text: string
  /** The number of lines above it in the file. */
  row: number
}

export interface CutText {
  /** The rest of the text, with a placeholder for each list. */
  rest: string
  /** For each line of the rest, the number of lines above it in the file. */
  rows: number[]
  lists: CutItem[][]
}

/**
 * Cuts the items of long lists (routes, backends, policies) out of the text, by indentation alone. An item ends at the
 * first line that is not indented deeper than its dash. Callers check with the structure of the rest that the lists are
 * where such lists belong. Null for texts with another layout.
 */
export function cutLists(text: string): CutText | null {
  if (UNUSUAL.test(text) || text.includes(PLACEHOLDER)) return null
  return new Cutter(text).cut()
}

/** The placeholder of the list with this number. */
export function placeholderOf(list: number): string {
  return `${PLACEHOLDER}${list}`
}

const PLACEHOLDER = 'list-that-was-cut-out-'
/** Tabs, other ends of lines, marks of documents and directives. */
const UNUSUAL = /[\t\r\0\u0085\u2028\u2029\ufeff]|^(?:---|\.\.\.|%)/m
const LIST_KEY = /(?: *- +)*( *)(?:backends|policies|routes):(?= *(?:#|\n|$))/y

class Cutter {
  readonly #text: string
  readonly #rest: string[] = []
  readonly #rows: number[] = []
  readonly #lists: CutItem[][] = []
  /** A line that may be the key of a list: its offset in the rest, its column, and its text up to the colon. */
  #key: { index: number; column: number; line: string } | null = null
  /** The list that is being cut, and the column of its dashes. */
  #list: CutItem[] | null = null
  #column = 0
  #itemStart = 0
  #itemRow = 0

  constructor(text: string) {
    this.#text = text
  }

  cut(): CutText {
    const text = this.#text
    for (let start = 0, row = 0; start < text.length; row++) {
      const newline = text.indexOf('\n', start)
      const end = newline === -1 ? text.length : newline
      this.#line(start, end, row)
      start = end + 1
    }
    this.#endItem(text.length)
    return { rest: this.#rest.join('\n'), rows: this.#rows, lists: this.#lists }
  }

  #line(start: number, end: number, row: number): void {
    const text = this.#text
    let first = start
    while (first < end && text.charCodeAt(first) === SPACE) first++
    const isEmpty = first === end || text.charCodeAt(first) === HASH
    const indent = first - start
    if (this.#list !== null) {
      if (isEmpty || indent > this.#column) return
      const isItem = indent === this.#column && isDash(text, first)
      this.#endItem(start)
      if (isItem) return this.#beginItem(start, row)
      this.#list = null
    }
    if (!isEmpty && this.#key !== null) {
      const key = this.#key
      this.#key = null
      if (indent >= key.column && isDash(text, first)) {
        this.#rest[key.index] = `${key.line} ${placeholderOf(this.#lists.length)}`
        this.#lists.push((this.#list = []))
        this.#column = indent
        return this.#beginItem(start, row)
      }
    }
    if (!isEmpty) this.#noteKey(start)
    this.#rest.push(text.slice(start, end))
    this.#rows.push(row)
  }

  #noteKey(start: number): void {
    LIST_KEY.lastIndex = start
    const found = LIST_KEY.exec(this.#text)
    if (found === null) return
    const line = found[0]
    this.#key = { index: this.#rest.length, column: line.search(/[^ -]/), line }
  }

  #beginItem(start: number, row: number): void {
    this.#itemStart = start
    this.#itemRow = row
  }

  #endItem(end: number): void {
    this.#list?.push({ text: this.#text.slice(this.#itemStart, end), row: this.#itemRow })
  }
}

function isDash(text: string, at: number): boolean {
  if (text.charCodeAt(at) !== DASH) return false
  const next = text.charCodeAt(at + 1)
  return next === SPACE || next === NEWLINE || Number.isNaN(next)
}

const SPACE = 0x20
const HASH = 0x23
const DASH = 0x2d
const NEWLINE = 0x0a
