import { checkSize, MOST_DEPTH, MOST_NODES, SourceError, type SourcePosition, type SourceText } from '../core/source.ts'
import { Directive } from './directive.ts'

/** Parses a config into directives, as nginx reads it. Throws a `SourceError` for a broken text. */
export function parseNginx(source: SourceText): Directive[] {
  checkSize(source)
  return new Parser(source).parse()
}

class Parser {
  readonly #file: string
  readonly #text: string
  #offset = 0
  #line = 1
  #lineStart = 0
  #count = 0

  constructor({ name, text }: SourceText) {
    this.#file = name
    this.#text = text
  }

  parse(): Directive[] {
    const directives = this.#directives(0)
    if (this.#offset < this.#text.length) throw this.#problem('found } without {')
    return directives
  }

  #directives(depth: number): Directive[] {
    const found: Directive[] = []
    for (;;) {
      this.#skipBlanks()
      const next = this.#text[this.#offset]
      if (next === undefined || next === '}') return found
      if (depth > MOST_DEPTH) throw this.#problem(`found more than ${MOST_DEPTH} levels`)
      found.push(this.#directive(depth))
    }
  }

  #directive(depth: number): Directive {
    const at = this.#position()
    const words: string[] = []
    for (;;) {
      this.#skipBlanks()
      const next = this.#text[this.#offset]
      if (next === undefined) throw this.#problem('found the end of the file, expected ; or {', at)
      if (next === '}') throw this.#problem('found }, expected ; or {')
      if (next === ';' || next === '{') {
        const [name, ...args] = words
        if (name === undefined) throw this.#problem(`found ${next}, expected the name of a directive`)
        this.#advance()
        if (++this.#count > MOST_NODES) throw this.#problem(`found more than ${MOST_NODES} directives`)
        if (next === ';') return new Directive({ name, args, at, block: null })
        return new Directive({
          name,
          args,
          at,
          block: name.endsWith('_by_lua_block') ? this.#code(at) : this.#block(depth, at),
        })
      }
      words.push(this.#word())
    }
  }

  #block(depth: number, at: SourcePosition): Directive[] {
    const block = this.#directives(depth + 1)
    if (this.#text[this.#offset] !== '}') throw this.#problem('found the end of the file, expected }', at)
    this.#advance()
    return block
  }

  /** Skips code of another language up to its last brace. */
  #code(at: SourcePosition): Directive[] {
    for (let open = 1; open > 0; this.#advance()) {
      const next = this.#text[this.#offset]
      if (next === undefined) throw this.#problem('found the end of the file, expected }', at)
      if (next === '{') open++
      if (next === '}') open--
    }
    return []
  }

  #word(): string {
    const quote = this.#text[this.#offset]
    return quote === '"' || quote === "'" ? this.#quoted(quote) : this.#bare()
  }

  #quoted(quote: string): string {
    const at = this.#position()
    let word = ''
    this.#advance()
    for (;;) {
      const next = this.#text[this.#offset]
      if (next === undefined) throw this.#problem('found the end of the file within a quoted text', at)
      if (next === quote) break
      word += next === '\\' ? this.#escaped() : this.#take()
    }
    this.#advance()
    const after = this.#text[this.#offset] ?? ';'
    // `){` closes the condition of an `if`.
    if (!/[\s;{)]/.test(after)) throw this.#problem('found text right after a quoted text')
    return word
  }

  #bare(): string {
    let word = ''
    for (;;) {
      const next = this.#text[this.#offset]
      if (next === undefined || /[\s;]/.test(next)) return word
      if (next === '{') {
        if (!word.endsWith('$')) return word
        // `${name}` is a part of the word.
        while (this.#text[this.#offset] !== '}') {
          if (this.#text[this.#offset] === undefined) throw this.#problem('found the end of the file within ${')
          word += this.#take()
        }
      }
      word += next === '\\' ? this.#escaped() : this.#take()
    }
  }

  /** A backslash makes quotes, itself and blanks literal; before other characters it stays. */
  #escaped(): string {
    this.#advance()
    const next = this.#text[this.#offset]
    if (next === undefined) throw this.#problem('found the end of the file after a backslash')
    const taken = this.#take()
    return ESCAPES.get(taken) ?? `\\${taken}`
  }

  #skipBlanks(): void {
    for (;;) {
      const next = this.#text[this.#offset]
      if (next === '#') while (this.#offset < this.#text.length && this.#text[this.#offset] !== '\n') this.#advance()
      else if (next !== undefined && /\s/.test(next)) this.#advance()
      else return
    }
  }

  #take(): string {
    const next = this.#text[this.#offset] ?? ''
    this.#advance()
    return next
  }

  #advance(): void {
    if (this.#text[this.#offset] === '\n') {
      this.#line++
      this.#lineStart = this.#offset + 1
    }
    this.#offset++
  }

  #position(): SourcePosition {
    return { file: this.#file, line: this.#line, column: this.#offset - this.#lineStart + 1 }
  }

  #problem(message: string, at: SourcePosition = this.#position()): SourceError {
    return new SourceError(at, message)
  }
}

const ESCAPES = new Map([
  ['"', '"'],
  ["'", "'"],
  ['\\', '\\'],
  ['t', '\t'],
  ['r', '\r'],
  ['n', '\n'],
])
