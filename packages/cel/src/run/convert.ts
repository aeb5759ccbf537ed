import { CelError, noSuchOverload } from '../error.ts'
import { Duration, Opaque, Timestamp, TypeValue, Uint } from '../value.ts'
import type { Value } from '../value.ts'
import { exhausted, spendText } from './meter.ts'
import { doubleOf, isDouble, isInt, toDouble, toInt, toUint } from './numbers.ts'
import { formatDuration, formatTimestamp, makeTimestamp, parseDuration, parseTimestamp } from './time.ts'
import { typeName } from './type-of.ts'
import { decodeUtf8, encodeUtf8 } from './utf8.ts'

type ConversionResult<T extends Value> = T | CelError

const INT_LIMIT = 2 ** 63
const UINT_LIMIT = 2 ** 64

export function convertToInt(value: Value): ConversionResult<number | bigint> {
  if (isInt(value)) return value
  if (value instanceof Uint) return toInt(value.value)
  if (isDouble(value)) {
    const number = Math.trunc(doubleOf(value))
    // The double nearest to the largest int is out of range, so both bounds are exclusive.
    return Math.abs(number) < INT_LIMIT ? toInt(BigInt(number)) : outOfRange('int')
  }
  if (value instanceof Timestamp) return value.seconds
  if (typeof value === 'string')
    return /^[+-]?\d{1,19}$/.test(value) ? toInt(BigInt(value.replace('+', ''))) : bad('int')
  return noSuchOverload(`int(${typeName(value)})`)
}

export function convertToUint(value: Value): ConversionResult<Uint> {
  if (value instanceof Uint) return value
  if (isInt(value)) return toUint(BigInt(value))
  if (isDouble(value)) {
    const number = doubleOf(value)
    return number >= 0 && number < UINT_LIMIT ? toUint(BigInt(Math.trunc(number))) : outOfRange('uint')
  }
  if (typeof value === 'string') return /^\d{1,20}$/.test(value) ? toUint(BigInt(value)) : bad('uint')
  return noSuchOverload(`uint(${typeName(value)})`)
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const SPECIAL = /^([+-]?)(?:inf|infinity)$/i

export function convertToDouble(value: Value): Value | CelError {
  if (isDouble(value)) return value
  if (isInt(value)) return toDouble(Number(value))
  if (value instanceof Uint) return toDouble(Number(value.value))
  if (typeof value !== 'string') return noSuchOverload(`double(${typeName(value)})`)
  if (DECIMAL.test(value)) return toDouble(Number(value))
  if (/^nan$/i.test(value)) return NaN
  const infinity = SPECIAL.exec(value)
  return infinity === null ? bad('double') : infinity[1] === '-' ? -Infinity : Infinity
}

export function convertToString(value: Value): ConversionResult<string> {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || isInt(value)) return String(value)
  if (isDouble(value)) return String(doubleOf(value))
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Uint8Array) {
    return spendText(value.length) ? (decodeUtf8(value) ?? new CelError('bad_value', 'invalid UTF-8')) : exhausted
  }
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return formatDuration(value)
  if (value instanceof TypeValue) return value.name
  if (value instanceof Opaque) return value.toText()
  return noSuchOverload(`string(${typeName(value)})`)
}

export function convertToBytes(value: Value): ConversionResult<Uint8Array> {
  if (value instanceof Uint8Array) return value
  if (typeof value !== 'string') return noSuchOverload(`bytes(${typeName(value)})`)
  return spendText(value.length) ? encodeUtf8(value) : exhausted
}

const TRUE_TEXTS = new Set(['1', 't', 'true', 'TRUE', 'True'])
const FALSE_TEXTS = new Set(['0', 'f', 'false', 'FALSE', 'False'])

export function convertToBool(value: Value): ConversionResult<boolean> {
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string') return noSuchOverload(`bool(${typeName(value)})`)
  return TRUE_TEXTS.has(value) ? true : FALSE_TEXTS.has(value) ? false : bad('bool')
}

export function convertToTimestamp(value: Value): ConversionResult<Timestamp> {
  if (value instanceof Timestamp) return value
  if (isInt(value)) return makeTimestamp(Number(value), 0)
  if (typeof value === 'string') return parseTimestamp(value)
  return noSuchOverload(`timestamp(${typeName(value)})`)
}

export function convertToDuration(value: Value): ConversionResult<Duration> {
  if (value instanceof Duration) return value
  if (typeof value === 'string') return parseDuration(value)
  return noSuchOverload(`duration(${typeName(value)})`)
}

function bad(type: string): CelError {
  return new CelError('bad_value', `the text is not a valid ${type}`)
}

function outOfRange(type: string): CelError {
  return new CelError('overflow', `the number is out of the range of ${type}`)
}
