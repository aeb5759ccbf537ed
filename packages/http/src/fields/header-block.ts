/**
 * The header fields of one message. Received lines stay in the received text and are found by position, so a message
 * with unchanged headers is forwarded without creating a string per header. Names are compared case-insensitively; the
 * methods take lower-case names. Every header of every message passes through these loops. Their bounds justify each
 * `!`: a check per element would cost time without benefit.
 */
export class HeaderBlock {
  /** The received head; `#lines` points into it. */
  #text: string
  /** Five positions per received line: line start, name end, value start, value end, line end. */
  #lines: number[]
  /** Fields that were not received as text: name, value, name, value … */
  #added: string[] | null = null
  /** The positions before the first removal; null when no received line was removed. */
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

  /** Returns the first value, or null. */
  get(name: string): string | null {
    return this.nth(name, 0)
  }

  /** Returns the value of the nth line of that name (from 0), or null. */
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

  /**
   * Returns whether there is a line with one of these names: a single pass, for names that most messages do not have.
   */
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

  /** Returns all values joined as one list (RFC 9110 section 5.3); null when the field is absent. */
  joined(name: string): string | null {
    const first = this.get(name)
    if (first === null) return null
    let all = first
    for (let i = 1, next = this.nth(name, 1); next !== null; next = this.nth(name, ++i)) all += ', ' + next
    return all
  }

  /**
   * Appends a line. Throws on a value that would break the line when written as latin1: callers validate external
   * input.
   */
  add(name: string, value: string): void {
    if (breaksLine.test(value))
      throw new TypeError(`header ${name} holds a line break, NUL or a character beyond latin1`)
    ;(this.#added ??= []).push(name, value)
  }

  /** Appends a line whose value was already validated. */
  addChecked(name: string, value: string): void {
    ;(this.#added ??= []).push(name, value)
  }

  /** Replaces all lines of that name by one line. */
  set(name: string, value: string): void {
    this.remove(name.toLowerCase())
    this.add(name, value)
  }

  remove(name: string): void {
    this.#remove(name, equalsLowerCase)
  }

  /** Removes lines of that name in all spellings that many servers treat alike: `x_user` and `x.user` for `x-user`. */
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

  /** Removes every line for which the predicate returns true; it gets the name in lower case. */
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

  /** Removes every line whose name has the prefix, except lines with the name `except`. */
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

  /** Removes a received line. `#received` keeps it, because logs and records show received headers. */
  #drop(at: number): void {
    this.#received ??= this.#lines.slice()
    this.#lines.splice(at, LINE)
  }

  /** Whether a line was removed or added since the message was received. */
  get isEdited(): boolean {
    return this.#received !== null || this.#added !== null
  }

  /** Calls back with each line as received, including removed lines. */
  forEachReceived(visit: (name: string, value: string) => void): void {
    this.#visit(this.#received ?? this.#lines, visit)
  }

  /** Calls back with each line in order; names keep their received case. */
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

  /** Returns the lines as HTTP/1 text; adjacent received lines are copied in one piece. */
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

/** Header names for `hasOneOf`. */
interface NameList {
  readonly names: readonly string[]
  /** A bit for each length of the names. */
  readonly lengths: number
}

/** Takes header names in lower case, shorter than 32 characters. */
export function nameList(...names: string[]): NameList {
  return { names, lengths: names.reduce((bits, { length }) => bits | (1 << length), 0) }
}

function isOneOf({ names, lengths }: NameList, text: string, start: number, length: number): boolean {
  if (length > 31 || ((lengths >>> length) & 1) === 0) return false
  return names.some((name) => name.length === length && equalsLowerCase(text, start, name))
}

const LINE = 5
const breaksLine = /[\0\r\n\u0100-\uffff]/

/** Returns whether a value is valid in a header line. */
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
