/**
 * A JSON parser for untrusted input. `JSON.parse` of the runtime may confuse a member name that contains escapes with a
 * name it parsed before (https://github.com/nodejs/node/issues/63785), so a client could make the gateway see other
 * members than the backend does. Texts with such names are parsed here instead.
 */

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Like `JSON.parse`, throws a SyntaxError when the text is not JSON. */
export function parseSafely(text: string): Json {
  const value = JSON.parse(text) as Json
  return hasEscapedName(text) ? new Reader(text).read() : value
}

/** Whether a member name contains an escape. The text must be valid JSON. */
function hasEscapedName(text: string): boolean {
  let backslash = text.indexOf('\\')
  let start = text.indexOf('"')
  while (backslash !== -1 && start !== -1) {
    const end = stringEnd(text, start)
    if (backslash < start) backslash = text.indexOf('\\', start)
    if (backslash !== -1 && backslash < end && text[skipSpace(text, end)] === ':') return true
    start = text.indexOf('"', end)
  }
  return false
}

/** Parses a text that is known to be valid JSON. */
class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): Json {
    this.#at = skipSpace(this.#text, 0)
    return this.#value(0)
  }

  #value(depth: number): Json {
    if (depth > MAX_DEPTH) throw new SyntaxError('JSON is nested too deeply')
    switch (this.#text.charAt(this.#at)) {
      case '{':
        return this.#object(depth)
      case '[':
        return this.#list(depth)
      case '"':
        return this.#string()
      case 't':
        return this.#word('true', true)
      case 'f':
        return this.#word('false', false)
      case 'n':
        return this.#word('null', null)
      default:
        return this.#number()
    }
  }

  #object(depth: number): Json {
    const members: [string, Json][] = []
    this.#step()
    while (this.#text[this.#at] !== '}') {
      const name = this.#string()
      this.#skip()
      this.#step()
      members.push([name, this.#value(depth + 1)])
      this.#skip()
      if (this.#text[this.#at] === ',') this.#step()
    }
    this.#at += 1
    // `Object.fromEntries` is used instead of assignment, because a name may be `__proto__`.
    return Object.fromEntries(members)
  }

  #list(depth: number): Json {
    const items: Json[] = []
    this.#step()
    while (this.#text[this.#at] !== ']') {
      items.push(this.#value(depth + 1))
      this.#skip()
      if (this.#text[this.#at] === ',') this.#step()
    }
    this.#at += 1
    return items
  }

  /** Parses a string with the runtime, which reads a string correctly when it is the whole text. */
  #string(): string {
    const start = this.#at
    this.#at = stringEnd(this.#text, start)
    return JSON.parse(this.#text.slice(start, this.#at)) as string
  }

  #number(): number {
    const start = this.#at
    NUMBER.lastIndex = start
    NUMBER.test(this.#text)
    this.#at = NUMBER.lastIndex
    return Number(this.#text.slice(start, this.#at))
  }

  #word<T>(word: string, value: T): T {
    this.#at += word.length
    return value
  }

  /** Skips a punctuation mark and the whitespace after it. */
  #step(): void {
    this.#at = skipSpace(this.#text, this.#at + 1)
  }

  #skip(): void {
    this.#at = skipSpace(this.#text, this.#at)
  }
}

/** The offset after the closing quote of the string that begins at `start`. */
function stringEnd(text: string, start: number): number {
  let at = text.indexOf('"', start + 1)
  for (;;) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return at + 1
    at = text.indexOf('"', at + 1)
  }
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (SPACES.includes(text.charCodeAt(at))) at += 1
  return at
}

const MAX_DEPTH = 1_000
const BACKSLASH = 0x5c
const SPACES = [0x20, 0x0a, 0x0d, 0x09]
const NUMBER = /[-+.\deE]*/y
