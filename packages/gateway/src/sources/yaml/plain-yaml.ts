import { readJsonText } from './json-text.ts'
import { readFlow, scalarKey } from './plain-yaml-flow.ts'
import type { Plain } from './plain-value.ts'
import type { Fill } from './plain-yaml-flow.ts'
import { type Mark, PlainMarks } from './plain-yaml-marks.ts'
import type { Path, Problem } from '../../schema/problem.ts'

/**
 * Reads the plain part of YAML that config files are written in: block mappings and lists, flow collections and
 * scalars on one line, comments; and JSON. Anything else (and every mistake) gives null, and the full parser decides. That
 * one takes time to load, keeps a tree with places, and takes ten times as long.
 */
export function readPlainYaml(text: string, fill: Fill): { value: Plain } | null {
  if (/^\s*\{/.test(text)) return readJsonText(text, fill)
  const value = readDocument(text, fill, null)
  return value === undefined ? null : { value }
}

/**
 * Returns a function that finds the positions of keys and values in plain YAML, as `PlainMarks.locate` does; null for a
 * text that only the full parser reads.
 */
export function locatePlainYaml(text: string, fill: Fill): ((path: Path, at: Problem['at']) => Mark | null) | null {
  if (/^\s*\{/.test(text)) return null
  const marks = new PlainMarks()
  const document = readDocument(text, fill, marks)
  return document === undefined ? null : (path, at) => marks.locate(document, path, at)
}

/** Returns the value of a document; undefined when only the full parser reads the document. */
function readDocument(text: string, fill: Fill, marks: PlainMarks | null): Plain | undefined {
  if (/[\t\r\0\u0085\u2028\u2029\ufeff]/.test(text)) return undefined
  try {
    return new BlockReader(text.split('\n'), fill, marks).document()
  } catch (error) {
    if (error === beyond) return undefined
    throw error
  }
}

/** Thrown where the plain part ends; it never leaves this file. */
const beyond = new Error('not plain YAML')

class BlockReader {
  readonly #lines: readonly string[]
  readonly #fill: Fill
  readonly #marks: PlainMarks | null
  #row = -1
  #line = ''
  /** Column of the first character of the line that was not read yet; -1 at the end. */
  #indent = -1

  constructor(lines: readonly string[], fill: Fill, marks: PlainMarks | null) {
    this.#lines = lines
    this.#fill = fill
    this.#marks = marks
  }

  document(): Plain {
    this.#nextLine()
    if (this.#indent < 0) return null
    if (this.#marks !== null) this.#marks.start = this.#markOf(this.#indent)
    const value = this.#block()
    if (this.#indent >= 0) throw beyond
    return value
  }

  #nextLine(): void {
    for (let line = this.#lines[++this.#row]; line !== undefined; line = this.#lines[++this.#row]) {
      const indent = line.search(/[^ ]/)
      if (indent < 0 || line[indent] === '#') continue
      if (indent === 0 && /^(---|\.\.\.|%)/.test(line)) throw beyond
      this.#line = line
      this.#indent = indent
      return
    }
    this.#indent = -1
  }

  #block(): Plain {
    return this.#isItem() ? this.#list() : this.#mapping()
  }

  /** The position of a character on the current line; null when nobody needs positions. */
  #markOf(index: number): Mark | null {
    return this.#marks === null ? null : { line: this.#row + 1, column: index + 1 }
  }

  #isItem(): boolean {
    const after = this.#line[this.#indent + 1]
    return this.#line[this.#indent] === '-' && (after === ' ' || after === undefined)
  }

  #list(): Plain[] {
    const indent = this.#indent
    const items: Plain[] = []
    const starts: (Mark | null)[] | null = this.#marks === null ? null : []
    while (this.#indent === indent && this.#isItem()) {
      const rest = this.#line.slice(indent + 1).search(/[^ ]/)
      if (rest < 0 || this.#line[indent + 1 + rest] === '#') {
        this.#nextLine()
        const hasBlock = this.#indent > indent
        starts?.push(hasBlock ? this.#markOf(this.#indent) : null)
        items.push(hasBlock ? this.#block() : null)
        continue
      }
      const start = indent + 1 + rest
      starts?.push(this.#markOf(start))
      if (keyEnd(this.#line, start) > 0) {
        // A mapping that starts on the line of a dash has the column of its first key.
        this.#indent = start
        items.push(this.#mapping())
      } else {
        if (this.#line[start] === '-' && this.#line[start + 1] === ' ') throw beyond
        items.push(this.#inline(start, indent))
      }
    }
    // Copies the list without spare capacity: thousands of routes have mostly one-item lists.
    const list = items.slice()
    starts?.forEach((value, index) => this.#marks?.add(list, index, { key: null, value }))
    return list
  }

  #mapping(): Plain {
    const indent = this.#indent
    const result: Record<string, Plain> = {}
    while (this.#indent === indent) {
      const end = keyEnd(this.#line, indent)
      if (end < 0) throw beyond
      const key = this.#line.slice(indent, end)
      if (key in result) throw beyond
      const rest = this.#line.slice(end + 1).search(/[^ ]/)
      const keyMark = this.#markOf(indent)
      if (rest >= 0 && this.#line[end + 1 + rest] !== '#') {
        this.#marks?.add(result, key, { key: keyMark, value: this.#markOf(end + 1 + rest) })
        result[key] = this.#inline(end + 1 + rest, indent)
        continue
      }
      this.#nextLine()
      // Lists may stand at the column of their key.
      const hasBlock = this.#indent > indent || (this.#indent === indent && this.#isItem())
      this.#marks?.add(result, key, { key: keyMark, value: hasBlock ? this.#markOf(this.#indent) : null })
      result[key] = hasBlock ? this.#block() : null
    }
    return result
  }

  /** A value on the rest of the line; the next line must not continue it. */
  #inline(start: number, indent: number): Plain {
    const found = readFlow(this.#line, start, {
      ...{ inFlow: false, fill: this.#fill, marks: this.#marks },
      line: this.#row + 1,
    })
    if (found === null || !/^( *| +#.*)$/.test(this.#line.slice(found.end))) throw beyond
    this.#nextLine()
    if (this.#indent > indent) throw beyond
    return found.value
  }
}

/** Position of the colon behind a simple key, or -1. */
function keyEnd(line: string, start: number): number {
  const end = scalarKey(line, start)
  if (end < 0 || line[end] !== ':') return -1
  return line[end + 1] === ' ' || line[end + 1] === undefined ? end : -1
}
