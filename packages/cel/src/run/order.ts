import { CelError, noSuchOverload } from '../error.ts'
import { Duration, Timestamp } from '../value.ts'
import type { Result } from '../value.ts'
import { asBigInt, asDouble } from './equality.ts'
import { exhausted, spend } from './meter.ts'
import { isDouble, isNumeric } from './numbers.ts'
import { typeName } from './type-of.ts'

export function less(left: Result, right: Result): boolean | CelError {
  const order = compare(left, right, '<')
  return order instanceof CelError ? order : order < 0
}

export function lessOrEqual(left: Result, right: Result): boolean | CelError {
  const order = compare(left, right, '<=')
  return order instanceof CelError ? order : order <= 0
}

export function greater(left: Result, right: Result): boolean | CelError {
  const order = compare(left, right, '>')
  return order instanceof CelError ? order : order > 0
}

export function greaterOrEqual(left: Result, right: Result): boolean | CelError {
  const order = compare(left, right, '>=')
  return order instanceof CelError ? order : order >= 0
}

/** Compares two values: negative, zero or positive; NaN when either is NaN. */
export function compare(left: Result, right: Result, operator: string): number | CelError {
  if (left instanceof CelError) return left
  if (right instanceof CelError) return right
  if (isNumeric(left) && isNumeric(right)) {
    if (isDouble(left) || isDouble(right)) return difference(asDouble(left), asDouble(right))
    return sign(asBigInt(left), asBigInt(right))
  }
  if (typeof left === 'string' && typeof right === 'string') {
    return spend(1 + (Math.min(left.length, right.length) >> 3)) ? compareText(left, right) : exhausted
  }
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    return spend(1 + (Math.min(left.length, right.length) >> 3)) ? compareBytes(left, right) : exhausted
  }
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right)
  if (left instanceof Timestamp && right instanceof Timestamp) return compareTimes(left, right)
  if (left instanceof Duration && right instanceof Duration) return compareTimes(left, right)
  return noSuchOverload(`${typeName(left)} ${operator} ${typeName(right)}`)
}

function compareTimes(left: Timestamp | Duration, right: Timestamp | Duration): number {
  return left.seconds - right.seconds || left.nanos - right.nanos
}

function difference(left: number, right: number): number {
  // Infinities are compared directly, because their difference is NaN.
  return left === right ? 0 : left < right ? -1 : left > right ? 1 : NaN
}

function sign(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0
}

/** Compares by code points. The `<` operator compares UTF-16 units, which puts surrogates before the end of the BMP. */
function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a === b) continue
    const isSurrogateA = a >= 0xd800 && a <= 0xdfff
    const isSurrogateB = b >= 0xd800 && b <= 0xdfff
    return isSurrogateA === isSurrogateB ? a - b : isSurrogateA ? 1 : -1
  }
  return left.length - right.length
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}
