/**
 * The header fields of one message. Received lines stay in the text they came in and are found by position, so
 * that a message whose headers nobody changes is forwarded without making a string per header.
 * Names are compared without regard to case; arguments of the methods are lower case. Every header of every message
 * passes its loops, whose bounds say what the `!` do: a check for each element would be paid for nothing.
 */
export class HeaderBlock {
  /** The received head; `#lines` points into it. */
  #text: string
  /** Five positions per received line: line start, name end, value start, value end, line end. */
  #lines: number[]
  /** Fields that were not received as text: name, value, name, value … */
  #added: string[] | null = null
  /** The positions as they were before the first removal; null where every received line is still there. */
  #received: readonly number[] | null = null

  constructor(text = '', lines: number[] = []) {
    this.#text = text
    this.#lines = lines
  }

  static of(fields: Iterable<readonly [string, string]>): HeaderBlock {
    const block = new HeaderBlock()
    for (const [name, value] of fields) block.add(name, value)
    return block
  }

  /** The first value, or null. */
  get(name: string): string | null {
    return this.nth(name, 0)
  }

  /** The value of the nth line of that name (from 0), or null. */
  nth(name: string, index: number): string | null {
    const lines = this.#lines
    const text = this.#text
    let left = index
    for (let i = 0; i < lines.length; i += LINE) {
      const start = lines[i]!
      if (lines[i + 1]! - start === name.length && equalsLowerCase(text, start, name) && left-- === 0) {
        return text.slice(lines[i + 2], lines[i + 3])
      }
    }
    const added = this.#added
    if (added !== null) {
      for (let i = 0; i < added.length; i += 2) {
        if (isNamed(added[i]!, name) && left-- === 0) return added[i + 1]!
      }
    }
    return null
  }

  has(name: string): boolean {
    return this.get(name) !== null
  }

  /** Whether there is a line of one of these names: one look for all of them, for where most messages have none. */
  hasOneOf(names: NameList): boolean {
    const lines = this.#lines
    for (let i = 0; i < lines.length; i += LINE) {
      const start = lines[i]!
      if (isOneOf(names, this.#text, start, lines[i + 1]! - start)) return true
    }
    const added = this.#added
    if (added !== null) {
      for (let i = 0; i < added.length; i += 2) if (isOneOf(names, added[i]!, 0, added[i]!.length)) return true
    }
    return false
  }

  /** All values joined as one list, as RFC 9110 section 5.3 allows; null when the field is absent. */
  joined(name: string): string | null {
    const first = this.get(name)
    if (first === null) return null
    let all = first
    for (let i = 1, next = this.nth(name, 1); next !== null; next = this.nth(name, ++i)) all += ', ' + next
    return all
  }

  /** Appends a line. Throws on what would end the line once written as latin1: callers check what comes from outside. */
  add(name: string, value: string): void {
    if (breaksLine.test(value))
      throw new TypeError(`header ${name} holds a line break, NUL or a character beyond latin1`)
    ;(this.#added ??= []).push(name, value)
  }

  /** Appends a line whose value is known to be fit for one. */
  addChecked(name: string, value: string): void {
    ;(this.#added ??= []).push(name, value)
  }

  /** Replaces every line of that name by one. */
  set(name: string, value: string): void {
    this.remove(name.toLowerCase())
    this.add(name, value)
  }

  remove(name: string): void {
    this.#remove(name, equalsLowerCase)
  }

  /** The same for the spellings that many servers take for that name: `x_user` and `x.user` for `x-user`. */
  removeAlike(name: string): void {
    this.#remove(name, isAlike)
  }

  #remove(name: string, equals: typeof equalsLowerCase): void {
    const lines = this.#lines
    for (let i = lines.length - LINE; i >= 0; i -= LINE) {
      const start = lines[i]!
      if (lines[i + 1]! - start === name.length && equals(this.#text, start, name)) this.#drop(i)
    }
    const added = this.#added
    if (added === null) return
    for (let i = added.length - 2; i >= 0; i -= 2) {
      if (added[i]!.length === name.length && equals(added[i]!, 0, name)) added.splice(i, 2)
    }
  }

  /** Removes every line for which the predicate, given the name in lower case, is true. */
  removeWhere(matches: (name: string) => boolean): void {
    const lines = this.#lines
    for (let i = lines.length - LINE; i >= 0; i -= LINE) {
      if (matches(this.#text.slice(lines[i], lines[i + 1]).toLowerCase())) this.#drop(i)
    }
    const added = this.#added
    if (added !== null) {
      for (let i = added.length - 2; i >= 0; i -= 2) if (matches(added[i]!.toLowerCase())) added.splice(i, 2)
    }
  }

  /** Removes every line whose name begins so, but for those of one name. */
  removePrefixed(prefix: string, except = ''): void {
    const lines = this.#lines
    for (let i = lines.length - LINE; i >= 0; i -= LINE) {
      const start = lines[i]!
      if (!equalsLowerCase(this.#text, start, prefix) || lines[i + 1]! - start < prefix.length) continue
      const isExcepted = lines[i + 1]! - start === except.length && equalsLowerCase(this.#text, start, except)
      if (!isExcepted) this.#drop(i)
    }
    const added = this.#added
    if (added === null) return
    for (let i = added.length - 2; i >= 0; i -= 2) {
      if (equalsLowerCase(added[i]!, 0, prefix) && !isNamed(added[i]!, except)) added.splice(i, 2)
    }
  }

  /** Takes a received line out. What came is still known: records tell of it. */
  #drop(at: number): void {
    this.#received ??= this.#lines.slice()
    this.#lines.splice(at, LINE)
  }

  /** Whether a line was taken out or added since it came. */
  get isEdited(): boolean {
    return this.#received !== null || this.#added !== null
  }

  /** The same lines as they came, whatever became of them. */
  forEachReceived(visit: (name: string, value: string) => void): void {
    this.#visit(this.#received ?? this.#lines, visit)
  }

  /** Calls back with each line in order; names keep the case they came in. */
  forEach(visit: (name: string, value: string) => void): void {
    this.#visit(this.#lines, visit)
    const added = this.#added
    if (added !== null) for (let i = 0; i < added.length; i += 2) visit(added[i]!, added[i + 1]!)
  }

  #visit(lines: readonly number[], visit: (name: string, value: string) => void): void {
    const text = this.#text
    for (let i = 0; i < lines.length; i += LINE) {
      visit(text.slice(lines[i], lines[i + 1]), text.slice(lines[i + 2], lines[i + 3]))
    }
  }

  get size(): number {
    return this.#lines.length / LINE + (this.#added === null ? 0 : this.#added.length / 2)
  }

  /** The lines as HTTP/1 text; received lines that stand side by side are taken in one piece. */
  toText(): string {
    const lines = this.#lines
    const text = this.#text
    let out = ''
    for (let i = 0; i < lines.length;) {
      const start = lines[i]!
      let end = lines[i + 4]!
      i += LINE
      while (i < lines.length && lines[i] === end) {
        end = lines[i + 4]!
        i += LINE
      }
      out += text.slice(start, end)
    }
    const added = this.#added
    if (added !== null) for (let i = 0; i < added.length; i += 2) out += added[i]! + ': ' + added[i + 1]! + '\r\n'
    return out
  }

  clone(): HeaderBlock {
    const copy = new HeaderBlock(this.#text, this.#lines.slice())
    if (this.#added !== null) copy.#added = this.#added.slice()
    copy.#received = this.#received
    return copy
  }
}

/** Names to look for together. */
export interface NameList {
  readonly names: readonly string[]
  /** A bit for each length that one of them has. */
  readonly lengths: number
}

/** Of names in lower case, with less than 32 characters. */
export function nameList(...names: string[]): NameList {
  return { names, lengths: names.reduce((bits, { length }) => bits | (1 << length), 0) }
}

function isOneOf({ names, lengths }: NameList, text: string, start: number, length: number): boolean {
  if (length > 31 || ((lengths >>> length) & 1) === 0) return false
  return names.some((name) => name.length === length && equalsLowerCase(text, start, name))
}

const LINE = 5
const breaksLine = /[\0\r\n\u0100-\uffff]/

/** Whether a value can stand in a header line as it is. */
export function isHeaderValue(value: string): boolean {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(value)
}

function isNamed(candidate: string, lowerName: string): boolean {
  return candidate.length === lowerName.length && equalsLowerCase(candidate, 0, lowerName)
}

/** Compares text at a position with a lower-case name; header names are ASCII tokens. */
function equalsLowerCase(text: string, start: number, lowerName: string): boolean {
  for (let i = 0; i < lowerName.length; i++) {
    let code = text.charCodeAt(start + i)
    if (code >= 65 && code <= 90) code |= 32
    if (code !== lowerName.charCodeAt(i)) return false
  }
  return true
}

function isAlike(text: string, start: number, lowerName: string): boolean {
  for (let i = 0; i < lowerName.length; i++) {
    let code = text.charCodeAt(start + i)
    if (code >= 65 && code <= 90) code |= 32
    if (code === lowerName.charCodeAt(i)) continue
    if (!isSeparator(code) || !isSeparator(lowerName.charCodeAt(i))) return false
  }
  return true
}

/** `-`, `.` and `_`. */
function isSeparator(code: number): boolean {
  return code === 45 || code === 46 || code === 95
}
