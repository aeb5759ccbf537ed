import { isInt64, isUint64, narrow, toDouble } from '../run/numbers.ts'
import { Uint } from '../value.ts'
import type { Value } from '../value.ts'
import { SyntaxProblem } from './syntax-problem.ts'

/** Parses a number; undefined when it is out of range for its type. */
export function readNumber(text: string, negative: boolean): Value | undefined {
  const sign = negative ? '-' : ''
  if (!/^0[xX]/.test(text) && /[.eE]/.test(text)) return toDouble(Number(sign + text))
  if (/[uU]$/.test(text)) {
    const value = BigInt(text.slice(0, -1))
    return isUint64(value) ? new Uint(value) : undefined
  }
  const value = negative ? -BigInt(text) : BigInt(text)
  return isInt64(value) ? narrow(value) : undefined
}

const PLAIN_ESCAPES = new Map(
  Object.entries({
    a: '\x07',
    b: '\b',
    f: '\f',
    n: '\n',
    r: '\r',
    t: '\t',
    v: '\v',
    '\\': '\\',
    '?': '?',
    '"': '"',
    "'": "'",
    '`': '`',
  }),
)
const HEX_DIGITS = new Map(Object.entries({ x: 2, X: 2, u: 4, U: 8 }))

/** Reads a string or bytes literal, from its prefix to its closing quotes. */
export function readQuoted(source: string, offset: number): { value: string | Uint8Array; end: number } {
  let at = offset
  const isBytes = /[bB]/.test(source.charAt(at))
  if (isBytes) at++
  const isRaw = /[rR]/.test(source.charAt(at))
  if (isRaw) at++
  const quote = source.charAt(at)
  const closing = source.startsWith(quote.repeat(3), at) ? quote.repeat(3) : quote
  at += closing.length

  const sink = isBytes ? new BytesSink() : new TextSink()
  let plainFrom = at
  while (!source.startsWith(closing, at)) {
    const char = source[at]
    if (char === undefined) throw new SyntaxProblem('a string has no closing quotes', offset)
    if ((char === '\n' || char === '\r') && closing.length === 1) {
      throw new SyntaxProblem('a string ends at a line break: close it, or use three quotes', at)
    }
    if (char !== '\\' || isRaw) {
      at++
      continue
    }
    sink.text(source.slice(plainFrom, at))
    at = readEscape(source, at, sink)
    plainFrom = at
  }
  sink.text(source.slice(plainFrom, at))
  return { value: sink.finish(), end: at + closing.length }
}

function readEscape(source: string, at: number, sink: TextSink | BytesSink): number {
  const char = source[at + 1] ?? ''
  const plain = PLAIN_ESCAPES.get(char)
  if (plain !== undefined) {
    sink.text(plain)
    return at + 2
  }
  const octal = /^[0-3][0-7]{2}/.exec(source.slice(at + 1, at + 4))
  if (octal !== null) {
    sink.code(parseInt(octal[0], 8))
    return at + 4
  }
  const count = HEX_DIGITS.get(char) ?? 0
  const digits = source.slice(at + 2, at + 2 + count)
  const code = parseInt(digits, 16)
  const isCharacter = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  const isAllowed = sink instanceof TextSink ? isCharacter : count === 2
  if (count === 0 || digits.length < count || !/^[0-9a-fA-F]+$/.test(digits) || !isAllowed) {
    throw new SyntaxProblem('not an escape sequence of CEL', at)
  }
  sink.code(code)
  return at + 2 + count
}

class TextSink {
  #parts = ''

  text(text: string): void {
    this.#parts += text
  }

  code(code: number): void {
    this.#parts += String.fromCodePoint(code)
  }

  finish(): string {
    return this.#parts
  }
}

class BytesSink {
  readonly #bytes: number[] = []

  text(text: string): void {
    for (const byte of new TextEncoder().encode(text)) this.#bytes.push(byte)
  }

  /** Adds an octal or hex escape, which is a single byte in a bytes literal. */
  code(code: number): void {
    this.#bytes.push(code)
  }

  finish(): Uint8Array {
    return Uint8Array.from(this.#bytes)
  }
}
