import type { Step } from './schema-walk.ts'

/** The position of the cursor in the YAML document. */
interface YamlContext {
  /** Path of the mapping or list around the cursor, or of the value under the cursor. */
  path: Step[]
  /** Whether the cursor is at a key; else it is at a value. */
  isKey: boolean
  /** Keys of the same mapping above the cursor. */
  siblings: string[]
  /** Offset of the first character of the word at the cursor. */
  from: number
}

/** A mapping or an item that is open at a line. */
interface Frame {
  column: number
  step: Step
  /** Keys of the mapping in it. */
  keys: string[]
}

/**
 * `contextAt` finds the position at the end of a text by indentation and brackets alone, because a text that people are
 * writing is seldom valid YAML. It returns null inside of comments and quotes.
 */
export function contextAt(text: string): YamlContext | null {
  const reader = new Reader()
  const lines = text.split('\n')
  const last = lines.pop() ?? ''
  for (const line of lines) reader.take(line)
  return reader.end(last, text.length)
}

class Reader {
  /** The keys of the file itself are in the first. */
  readonly #frames: Frame[] = [{ column: -1, step: 'item', keys: [] }]
  /** Brackets that are open, each with the keys of its mapping and the key that waits for its value. */
  readonly #flows: { isList: boolean; keys: string[]; key: string | null }[] = []

  take(line: string): void {
    if (/^\s*(?:#.*)?$/.test(line)) return
    const rest = this.#flows.length > 0 ? line : this.#takeBlock(line)
    this.#takeFlow(rest)
  }

  end(line: string, offset: number): YamlContext | null {
    const isInFlow = this.#flows.length > 0
    const rest = isInFlow ? line : this.#takeBlock(line)
    const tail = this.#takeFlow(rest)
    if (tail === null) return null
    const [, word = ''] = /([\w.-]*)$/.exec(tail) ?? []
    const from = offset - word.length
    const flow = this.#flows.at(-1)
    const base = this.#path()
    if (flow !== undefined) {
      const isKey = !flow.isList && flow.key === null
      return { path: base, isKey, siblings: isKey ? flow.keys : [], from }
    }
    const isValue = /:\s+[\w.-]*$/.test(line) || /:\s+$/.test(line)
    if (isValue) return { path: base, isKey: false, siblings: [], from }
    const column = contentColumn(line)
    while ((this.#frames.at(-1)?.column ?? -1) >= column) this.#frames.pop()
    return { path: this.#path(), isKey: true, siblings: this.#frames.at(-1)?.keys ?? [], from }
  }

  #path(): Step[] {
    const block = this.#frames.slice(1).map(({ step }) => step)
    const flow = this.#flows.flatMap(({ isList, key }): Step[] => (isList ? ['item'] : key === null ? [] : [{ key }]))
    return [...block, ...flow]
  }

  /** Reads the dashes and the key of a line, and returns the rest. */
  #takeBlock(line: string): string {
    let column = /^\s*/.exec(line)?.[0].length ?? 0
    let rest = line.slice(column)
    for (let dash = DASH.exec(rest); dash !== null; dash = DASH.exec(rest)) {
      this.#openItem(column)
      column += dash[0].length
      rest = rest.slice(dash[0].length)
    }
    const [whole, plain, quoted] = KEY.exec(rest) ?? []
    if (whole === undefined) return rest
    const key = plain ?? quoted ?? ''
    while ((this.#frames.at(-1)?.column ?? -1) >= column) this.#frames.pop()
    this.#frames.at(-1)?.keys.push(key)
    this.#frames.push({ column, step: { key }, keys: [] })
    return rest.slice(whole.length)
  }

  /** A list may begin in the column of the key that it belongs to. */
  #openItem(column: number): void {
    for (let top = this.#frames.at(-1); top !== undefined; top = this.#frames.at(-1)) {
      const isParent = top.column < column || (top.column === column && top.step !== 'item')
      if (isParent || this.#frames.length === 1) break
      this.#frames.pop()
    }
    this.#frames.push({ column, step: 'item', keys: [] })
  }

  /** Reads brackets, and returns the text after the last bracket or comma; null in quotes and comments. */
  #takeFlow(text: string): string | null {
    let tail = ''
    for (let at = 0; at < text.length; at++) {
      const character = text[at] ?? ''
      if (character === '#' && (at === 0 || /\s/.test(text[at - 1] ?? ''))) return null
      if (character === '"' || character === "'") {
        const end = endOfQuote(text, at)
        if (end < 0) return null
        tail += text.slice(at, end + 1)
        at = end
      } else if ((character === '{' || character === '[') && (this.#flows.length > 0 || tail.trim() === '')) {
        this.#flows.push({ isList: character === '[', keys: [], key: null })
        tail = ''
      } else if (this.#flows.length > 0 && FLOW_MARKS.has(character)) {
        this.#flowMark(character, tail, text[at + 1])
        tail = ''
      } else tail += character
    }
    return tail
  }

  #flowMark(mark: string, tail: string, next: string | undefined): void {
    const flow = this.#flows.at(-1)
    if (flow === undefined) return
    if (mark === ':' && !flow.isList && flow.key === null && (next === undefined || /\s/.test(next))) {
      flow.key = tail.trim().replaceAll(/^["']|["']$/g, '')
      flow.keys.push(flow.key)
    } else if (mark === ',') flow.key = null
    else if (mark === '}' || mark === ']') this.#flows.pop()
  }
}

const DASH = /^-(?:\s+|$)/
const KEY = /^(?:([\w.$/-]+)|["']([^"']*)["'])\s*:(?=\s|$)/
const FLOW_MARKS: ReadonlySet<string> = new Set([':', ',', '}', ']'])

function endOfQuote(text: string, at: number): number {
  const quote = text[at] ?? ''
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === '\\' && quote === '"') end++
    else if (text[end] === quote) return end
  }
  return -1
}

/** The column of the key of a line, after its dashes. */
function contentColumn(line: string): number {
  return /^\s*(?:-\s+)*/.exec(line)?.[0].length ?? 0
}
