import type { Overload } from '../declarations.ts'
import { overload } from '../declarations.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { tooLarge } from '../run/arithmetic.ts'
import { exhausted, MAX_SIZE, spend } from '../run/meter.ts'
import { wholeNumber } from '../run/numbers.ts'
import { isList, typeName } from '../run/type-of.ts'
import type { Type } from '../types.ts'
import { int, list, listOf, string } from '../types.ts'
import type { Result, Value } from '../value.ts'
import { codePointLength, toCodePoint, toUnit } from './code-points.ts'
import { globalFunction, method } from './define.ts'
import { format } from './format.ts'

export const stringFunctions = [
  textMethod('charAt', ofText(string, [int]), 'The character at a position; empty at the end.', (text, position) => {
    const unit = unitAt(text, position)
    return typeof unit === 'number' ? text.slice(unit, unit + characterSize(text, unit)) : unit
  }),
  textMethod(
    'indexOf',
    ofText(int, [string], [string, int]),
    'Position of the first occurrence (from a position on), or -1.',
    (text, part, from) => {
      if (typeof part !== 'string') return wrongType('indexOf', part)
      const start = from === undefined ? 0 : unitAt(text, from)
      if (typeof start !== 'number') return start
      const found = text.indexOf(part, start)
      return found < 0 ? found : toCodePoint(text, found)
    },
  ),
  textMethod(
    'lastIndexOf',
    ofText(int, [string], [string, int]),
    'Position of the last occurrence (up to a position), or -1.',
    (text, part, from) => {
      if (typeof part !== 'string') return wrongType('lastIndexOf', part)
      const start = from === undefined ? text.length : unitAt(text, from)
      if (typeof start !== 'number') return start
      const found = text.lastIndexOf(part, start)
      return found < 0 ? found : toCodePoint(text, found)
    },
  ),
  textMethod(
    'substring',
    ofText(string, [int], [int, int]),
    'From a position to the end, or up to another position.',
    (text, from, to) => {
      const start = unitAt(text, from)
      if (typeof start !== 'number') return start
      const end = to === undefined ? text.length : unitAt(text, to)
      if (typeof end !== 'number') return end
      return start <= end ? text.slice(start, end) : new CelError('bad_index', 'substring ends before it starts')
    },
  ),
  textMethod('lowerAscii', ofText(string, []), 'ASCII letters in lower case.', (text) => {
    if (ASCII.test(text)) return text.toLowerCase()
    return spend(text.length) ? text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : exhausted
  }),
  textMethod('upperAscii', ofText(string, []), 'ASCII letters in upper case.', (text) => {
    if (ASCII.test(text)) return text.toUpperCase()
    return spend(text.length) ? text.replace(/[a-z]+/g, (letters) => letters.toUpperCase()) : exhausted
  }),
  textMethod('trim', ofText(string, []), 'The text without white space at both ends.', trim),
  textMethod('reverse', ofText(string, []), 'The characters in reverse order.', (text) =>
    spend(text.length) ? Array.from(text).reverse().join('') : exhausted,
  ),
  textMethod(
    'replace',
    ofText(string, [string, string], [string, string, int]),
    'All occurrences replaced, or the first n.',
    replace,
  ),
  textMethod(
    'split',
    ofText(listOf(string), [string], [string, int]),
    'The parts between separators, at most n.',
    split,
  ),
  textMethod('stripPrefix', ofText(string, [string]), 'The text without this prefix, if it has it.', (text, prefix) => {
    if (typeof prefix !== 'string') return wrongType('stripPrefix', prefix)
    return text.startsWith(prefix) ? text.slice(prefix.length) : text
  }),
  textMethod('stripSuffix', ofText(string, [string]), 'The text without this suffix, if it has it.', (text, suffix) => {
    if (typeof suffix !== 'string') return wrongType('stripSuffix', suffix)
    return text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text
  }),
  textMethod('format', ofText(string, [list]), 'Clauses %s %d %f %e %b %o %x %X filled from a list.', (text, args) =>
    isList(args) ? format(text, args) : wrongType('format', args),
  ),
  globalFunction(
    'strings.quote',
    overload([string], string),
    'In double quotes, with escapes.',
    (text: Value): Result => (typeof text === 'string' ? quote(text) : wrongType('strings.quote', text)),
  ),
  method(
    'join',
    [overload([list], string), overload([list, string], string)],
    'The strings of a list, with a separator between them.',
    join,
  ),
]

type TextCall = (text: string, ...args: Value[]) => Result

/** Overloads of a string method, one for each list of argument types. */
function ofText(gives: Type, ...takes: readonly Type[][]): Overload[] {
  return takes.map((args) => overload([string, ...args], gives))
}

function textMethod(name: string, overloads: readonly Overload[], summary: string, call: TextCall) {
  return method(name, overloads, summary, (text: Value, ...args: Value[]): Result =>
    typeof text === 'string' ? call(text, ...args) : noSuchOverload(`${typeName(text)}.${name}(…)`),
  )
}

function unitAt(text: string, position: Value | undefined): number | CelError {
  const whole = position === undefined || position instanceof Object ? undefined : wholeNumber(position)
  if (whole === undefined) return noSuchOverload(`a position cannot be a ${typeName(position ?? null)}`)
  if (whole < 0 || whole > codePointLength(text)) return new CelError('bad_index', `index out of range: ${whole}`)
  return toUnit(text, whole)
}

function characterSize(text: string, unit: number): number {
  return (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1
}

const ASCII = /^[\x00-\x7f]*$/
const WHITE_SPACE = /^\p{White_Space}$/u

/** Trims Unicode White_Space, which differs slightly from what `String.trim` removes. */
function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && WHITE_SPACE.test(text.charAt(start))) start++
  while (end > start && WHITE_SPACE.test(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

function replace(text: string, part: Value | undefined, by: Value | undefined, limit?: Value): Result {
  if (typeof part !== 'string') return wrongType('replace', part)
  if (typeof by !== 'string') return wrongType('replace', by)
  const most = limit === undefined ? -1 : limitOf('replace', limit)
  if (typeof most !== 'number') return most
  if (part === '' && !spend(text.length)) return exhausted
  const pieces = part === '' ? ['', ...Array.from(text), ''] : text.split(part)
  if (!spend(pieces.length)) return exhausted
  const count = most < 0 ? pieces.length - 1 : Math.min(most, pieces.length - 1)
  if (text.length + count * by.length > MAX_SIZE) return tooLarge
  const replaced = pieces.slice(0, count + 1).join(by)
  return count === pieces.length - 1 ? replaced : [replaced, ...pieces.slice(count + 1)].join(part)
}

function split(text: string, separator: Value | undefined, limit?: Value): Result {
  if (typeof separator !== 'string') return wrongType('split', separator)
  const most = limit === undefined ? -1 : limitOf('split', limit)
  if (typeof most !== 'number') return most
  if (most === 0) return []
  if (separator === '' && !spend(text.length)) return exhausted
  const pieces = separator === '' ? Array.from(text) : text.split(separator)
  if (!spend(pieces.length)) return exhausted
  if (most < 0 || pieces.length <= most) return pieces
  return [...pieces.slice(0, most - 1), pieces.slice(most - 1).join(separator)]
}

function join(list: Value, separator: Value = ''): Result {
  if (!isList(list) || typeof separator !== 'string') return wrongType('join', isList(list) ? separator : list)
  const texts: string[] = []
  let length = separator.length * list.length
  for (const item of list) {
    if (typeof item !== 'string') return wrongType('join', item)
    length += item.length
    texts.push(item)
  }
  return length > MAX_SIZE ? tooLarge : texts.join(separator)
}

function limitOf(name: string, limit: Value): number | CelError {
  const whole = wholeNumber(limit)
  return whole === undefined || limit instanceof Object ? wrongType(name, limit) : whole
}

function wrongType(name: string, value: Value | undefined): CelError {
  return noSuchOverload(`${name}(${typeName(value ?? null)})`)
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

/** Puts a text in double quotes, as CEL would read it back; lone surrogates become U+FFFD. */
export function quote(text: string): string {
  return `"${text.toWellFormed().replace(/[\x07\b\f\n\r\t\v\\"]/g, (char) => ESCAPES[char] ?? char)}"`
}
