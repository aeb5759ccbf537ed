import { type Passage, verbatim } from '../passage.ts'
import { type Piece, maskPieces, type PieceFinder } from './text-masker.ts'

/**
 * Masks the contents of JSON strings, one string after the other: searches the decoded text and passes on the escaped
 * text.
 */
export class JsonStringMasker {
  readonly #finder: PieceFinder
  readonly #found: Set<string>
  /** Escaped characters by their position in the string; only those not yet passed on. */
  #escapes: { at: number; raw: string }[] = []
  /** An incomplete escape sequence. */
  #escape = ''
  #read = 0
  #written = 0

  constructor(finder: PieceFinder, found: Set<string>) {
    this.#finder = finder
    this.#found = found
  }

  /** The index of the quote that ends the string, or the length of the text when the string does not end there. */
  findEnd(text: string, from: number): number {
    let at = from + (this.#escape === '\\' ? 1 : 0)
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
    return Math.min(at, text.length)
  }

  push(raw: string): readonly Passage[] | null {
    let text = ''
    for (let at = 0; at < raw.length;) {
      if (this.#escape === '' && raw[at] !== '\\') {
        const next = raw.indexOf('\\', at)
        const end = next === -1 ? raw.length : next
        text += raw.slice(at, end)
        at = end
        continue
      }
      if (this.#escape.startsWith('\\u') && !/[0-9A-Fa-f]/.test(raw.charAt(at))) text += this.#endEscape(text.length)
      else {
        this.#escape += raw.charAt(at++)
        if (isWhole(this.#escape)) text += this.#endEscape(text.length)
      }
    }
    this.#read += text.length
    const pieces = this.#finder.push(text)
    return pieces === null ? null : this.#write(pieces)
  }

  end(): readonly Passage[] {
    const rest = [...this.#write(this.#finder.end()), ...verbatim(this.#escape)]
    this.#escape = ''
    this.#read = 0
    this.#written = 0
    return rest
  }

  /** Ends an escape sequence and returns the character it stands for, always one code unit. */
  #endEscape(offset: number): string {
    const raw = this.#escape
    this.#escape = ''
    this.#escapes.push({ at: this.#read + offset, raw })
    if (raw.length === 2) return READ[raw.charAt(1)] ?? raw.charAt(1)
    return raw.length === 6 ? String.fromCharCode(Number.parseInt(raw.slice(2), 16)) : '\ufffd'
  }

  #write(pieces: readonly Piece[]): Passage[] {
    return pieces.map((piece) => {
      const raw = this.#takeRaw(piece.text)
      const isMask = piece.region !== null
      return { text: isMask ? inString(maskPieces([piece], this.#found)) : raw, of: raw.length, isMask }
    })
  }

  /** The next characters, with their original escapes. */
  #takeRaw(text: string): string {
    const end = this.#written + text.length
    let raw = ''
    let from = 0
    let next = 0
    for (let escape = this.#escapes[next]; escape !== undefined && escape.at < end; escape = this.#escapes[++next]) {
      raw += text.slice(from, escape.at - this.#written) + escape.raw
      from = escape.at - this.#written + 1
    }
    this.#escapes.splice(0, next)
    this.#written = end
    return raw + text.slice(from)
  }
}

function isWhole(escape: string): boolean {
  return escape.length === 6 || (escape.length === 2 && escape[1] !== 'u')
}

const READ: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

function inString(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
