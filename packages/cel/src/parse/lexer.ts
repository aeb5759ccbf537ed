import type { Value } from '../value.ts'
import { readNumber, readQuoted } from './literals.ts'
import { SyntaxProblem } from './syntax-problem.ts'

export type Token =
  | { kind: 'name'; text: string; offset: number; end: number }
  /** A field name between backticks. */
  | { kind: 'quotedName'; text: string; offset: number; end: number }
  | { kind: 'literal'; text: string; offset: number; end: number; value: Value }
  /** A number without its sign: the smallest int is legal only after a minus. */
  | { kind: 'number'; text: string; offset: number; end: number }
  | { kind: 'symbol'; text: string; offset: number; end: number }
  | { kind: 'end'; text: string; offset: number; end: number }

const SPACE = /(?:[\t\n\f\r ]|\/\/[^\n]*)+/y
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
const NUMBER = /0[xX][0-9a-fA-F]+[uU]?|(?:\d*\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)|\d+[uU]?/y
const QUOTE = /[bB]?[rR]?["']/y
const QUOTED_NAME = /`[A-Za-z0-9_./\- ]+`/y
const SYMBOL = /&&|\|\||[<>=!]=|[<>!+\-*/%?:.,()[\]{}]/y

/**
 * Reads a token: strings before names, because their prefixes look like names; numbers before symbols, for a leading
 * dot.
 */
export function readToken(source: string, from: number): Token {
  const offset = endOf(SPACE, source, from) ?? from
  const code = source.charCodeAt(offset)
  if (Number.isNaN(code)) return { kind: 'end', text: '', offset, end: offset }
  const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95
  if ((!isLetter || STRING_PREFIXES.has(code)) && endOf(QUOTE, source, offset) !== undefined) {
    const { value, end } = readQuoted(source, offset)
    return { kind: 'literal', text: source.slice(offset, end), offset, end, value }
  }
  const nameEnd = isLetter ? endOf(NAME, source, offset) : undefined
  if (nameEnd !== undefined) return token('name', source, offset, nameEnd)
  const numberEnd = endOf(NUMBER, source, offset)
  if (numberEnd !== undefined) {
    if (endOf(NAME, source, numberEnd) !== undefined) throw new SyntaxProblem('a number ends in letters', numberEnd)
    return token('number', source, offset, numberEnd)
  }
  const symbolEnd = endOf(SYMBOL, source, offset)
  if (symbolEnd !== undefined) return token('symbol', source, offset, symbolEnd)
  const quotedEnd = endOf(QUOTED_NAME, source, offset)
  if (quotedEnd === undefined) {
    throw new SyntaxProblem(`unexpected character ${JSON.stringify(characterAt(source, offset))}`, offset)
  }
  return { kind: 'quotedName', text: source.slice(offset + 1, quotedEnd - 1), offset, end: quotedEnd }
}

const STRING_PREFIXES = new Set(['b', 'B', 'r', 'R'].map((char) => char.charCodeAt(0)))

function token(kind: 'name' | 'number' | 'symbol', source: string, offset: number, end: number): Token {
  return { kind, text: source.slice(offset, end), offset, end }
}

export function numberValue(token: Token, negative: boolean): Value {
  const value = readNumber(token.text, negative)
  if (value === undefined) throw new SyntaxProblem(`number out of range: ${token.text}`, token.offset)
  return value
}

function endOf(pattern: RegExp, source: string, from: number): number | undefined {
  pattern.lastIndex = from
  return pattern.test(source) ? pattern.lastIndex : undefined
}

function characterAt(source: string, offset: number): string {
  return String.fromCodePoint(source.codePointAt(offset) ?? 0)
}
