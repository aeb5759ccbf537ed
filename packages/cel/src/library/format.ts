import { CelError } from '../error.ts'
import { toText } from '../render.ts'
import { tooLarge } from '../run/arithmetic.ts'
import { convertToString } from '../run/convert.ts'
import { asBigInt } from '../run/equality.ts'
import { entriesOf } from '../run/maps.ts'
import { exhausted, MAX_SIZE, spend } from '../run/meter.ts'
import { doubleOf, isDouble, isInt } from '../run/numbers.ts'
import { isList, isMap, typeName } from '../run/type-of.ts'
import { encodeUtf8 } from '../run/utf8.ts'
import type { Value } from '../value.ts'
import { Uint } from '../value.ts'

type Text = string | CelError

const CLAUSE = /%(?:(%)|(?:\.(\d{1,4}))?([a-zA-Z]))?/g
const MAX_PRECISION = 100

/** Implements `"%s has %d".format([name, count])`. */
export function format(template: string, args: readonly Value[]): Text {
  let result = ''
  let from = 0
  let used = 0
  for (const match of template.matchAll(CLAUSE)) {
    result += template.slice(from, match.index)
    from = match.index + match[0].length
    if (match[1] !== undefined) {
      result += '%'
      continue
    }
    const write = CLAUSES.get(match[3] ?? '')
    if (write === undefined) return bad(`unrecognized formatting clause "${match[3] ?? ''}"`)
    const arg = args[used]
    if (arg === undefined) return new CelError('bad_index', `index ${used} out of range`)
    used++
    const precision = match[2] === undefined ? undefined : Number(match[2])
    if (precision !== undefined && precision > MAX_PRECISION) return bad(`precision above ${MAX_PRECISION}`)
    const text = write(arg, precision)
    if (text instanceof CelError) return text
    result += text
    if (result.length > MAX_SIZE) return tooLarge
    if (!spend(1 + (text.length >> 6))) return exhausted
  }
  return result + template.slice(from)
}

const CLAUSES = new Map<string, (value: Value, precision: number | undefined) => Text>([
  ['s', (value) => asText(value, 0)],
  ['d', decimal],
  ['f', (value, precision = 6) => fixed(value, precision)],
  ['e', (value, precision = 6) => scientific(value, precision)],
  ['b', (value) => (typeof value === 'boolean' ? (value ? '1' : '0') : radix(value, 2, 'binary'))],
  ['o', (value) => radix(value, 8, 'octal')],
  ['x', hex],
  ['X', upperHex],
])

const MAX_DEPTH = 100

function asText(value: Value, depth: number): Text {
  if (value === null) return 'null'
  if (depth > MAX_DEPTH) return bad('nested too deeply')
  if (isList(value)) {
    const items = collect(value, (item) => asText(item, depth + 1))
    return items instanceof CelError ? items : `[${items.join(', ')}]`
  }
  if (isMap(value)) {
    const entries = collect(entriesOf(value), ([key, item]) => {
      const text = asText(item, depth + 1)
      return text instanceof CelError ? text : `${toText(key)}: ${text}`
    })
    return entries instanceof CelError ? entries : `{${entries.toSorted(byText).join(', ')}}`
  }
  return convertToString(value)
}

function collect<T>(items: readonly T[], write: (item: T) => Text): string[] | CelError {
  const texts: string[] = []
  for (const item of items) {
    const text = spend(1) ? write(item) : exhausted
    if (text instanceof CelError) return text
    texts.push(text)
  }
  return texts
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1
}

function decimal(value: Value): Text {
  if (isInt(value) || value instanceof Uint || isDouble(value)) return convertToString(value)
  return bad(`decimal clause can only be used on numbers, was given ${typeName(value)}`)
}

function fixed(value: Value, precision: number): Text {
  if (!isDouble(value)) return bad(`fixed-point clause can only be used on doubles, was given ${typeName(value)}`)
  const number = doubleOf(value)
  return Number.isFinite(number) ? roundHalfEven(number, precision) : String(number)
}

function scientific(value: Value, precision: number): Text {
  if (!isDouble(value)) return bad(`scientific clause can only be used on doubles, was given ${typeName(value)}`)
  const number = doubleOf(value)
  if (!Number.isFinite(number)) return String(number)
  return number.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2')
}

function radix(value: Value, base: number, name: string): Text {
  if (isInt(value) || value instanceof Uint) return asBigInt(value).toString(base)
  return bad(`${name} clause can only be used on integers, was given ${typeName(value)}`)
}

function hex(value: Value): Text {
  if (typeof value === 'string') return hexOfBytes(encodeUtf8(value))
  return value instanceof Uint8Array ? hexOfBytes(value) : radix(value, 16, 'hex')
}

function upperHex(value: Value): Text {
  const text = hex(value)
  return text instanceof CelError ? text : text.toUpperCase()
}

function hexOfBytes(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

function bad(message: string): CelError {
  return new CelError('bad_value', `format: ${message}`)
}

/**
 * Formats a finite number with the given decimals. `toFixed` is not used: it rounds halves up and writes exponents from
 * 1e21 on.
 */
function roundHalfEven(number: number, decimals: number): string {
  const { numerator, power } = exactFraction(Math.abs(number))
  const scaled = numerator * 10n ** BigInt(decimals)
  const divisor = 2n ** BigInt(power)
  const [whole, rest] = [scaled / divisor, (scaled % divisor) * 2n]
  const isUp = rest > divisor || (rest === divisor && whole % 2n === 1n)
  const digits = String(isUp ? whole + 1n : whole).padStart(decimals + 1, '0')
  const sign = number < 0 ? '-' : ''
  const point = digits.length - decimals
  return decimals === 0 ? sign + digits : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** The exact value of a double: every double is an integer over a power of two. */
function exactFraction(number: number): { numerator: bigint; power: number } {
  let power = 0
  let scaled = number
  while (!Number.isInteger(scaled)) {
    scaled *= 2
    power++
  }
  return { numerator: BigInt(scaled), power }
}
