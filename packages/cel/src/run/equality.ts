import { CelError } from '../error.ts'
import { Duration, Opaque, Optional, Timestamp, TypeValue, Uint } from '../value.ts'
import type { MapValue, Result, Value } from '../value.ts'
import { keysOf, lookup, sizeOf } from './maps.ts'
import { exhausted, meter, spend, spendText } from './meter.ts'
import { doubleOf, isDouble, isNumeric } from './numbers.ts'
import { isList, isMap } from './type-of.ts'

export function equals(left: Result, right: Result): boolean | CelError {
  if (left instanceof CelError) return left
  if (right instanceof CelError) return right
  const result = same(left, right, 0)
  return meter.left < 0 ? exhausted : result
}

export function notEquals(left: Result, right: Result): boolean | CelError {
  const result = equals(left, right)
  return result instanceof CelError ? result : !result
}

const MAX_DEPTH = 500

/** Values of different types differ, except numbers. Returns false when the budget is exhausted. */
export function same(left: Value, right: Value, depth: number): boolean {
  if (left === right) return true
  if (typeof left === 'string' || typeof right === 'string') {
    // Opaque types such as secrets may define equality with strings.
    if (left instanceof Opaque) return left.equals(right)
    return right instanceof Opaque && right.equals(left)
  }
  if (left === null || right === null || typeof left === 'boolean' || typeof right === 'boolean') return false
  // Data this deep is hostile, so it exhausts the budget.
  if (!spend(depth > MAX_DEPTH ? Infinity : 1)) return false
  if (isNumeric(left)) return isNumeric(right) && sameNumber(left, right)
  if (isList(left)) return isList(right) && sameLists(left, right, depth)
  if (isMap(left)) return isMap(right) && sameMaps(left, right, depth)
  return sameObjects(left, right, depth)
}

type Numeric = Parameters<typeof doubleOf>[0] | bigint | Uint

function sameNumber(left: Numeric, right: Numeric): boolean {
  if (isDouble(left) || isDouble(right)) return asDouble(left) === asDouble(right)
  return asBigInt(left) === asBigInt(right)
}

/** Converts to a double, rounding where needed: ints and doubles are compared this way. */
export function asDouble(value: Numeric): number {
  if (typeof value === 'bigint') return Number(value)
  return value instanceof Uint ? Number(value.value) : doubleOf(value)
}

export function asBigInt(value: Numeric): bigint {
  if (typeof value === 'bigint') return value
  return value instanceof Uint ? value.value : BigInt(doubleOf(value))
}

function sameLists(left: readonly Value[], right: readonly Value[], depth: number): boolean {
  return left.length === right.length && left.every((item, index) => same(item, right[index] ?? null, depth + 1))
}

function sameMaps(left: MapValue, right: MapValue, depth: number): boolean {
  if (sizeOf(left) !== sizeOf(right)) return false
  return keysOf(left).every((key) => {
    const other = lookup(right, key)
    return other !== undefined && same(lookup(left, key) ?? null, other, depth + 1)
  })
}

function sameObjects(left: Value, right: Value, depth: number): boolean {
  if (left instanceof Uint8Array) return right instanceof Uint8Array && sameBytes(left, right)
  if (left instanceof Timestamp) {
    return right instanceof Timestamp && left.seconds === right.seconds && left.nanos === right.nanos
  }
  if (left instanceof Duration) {
    return right instanceof Duration && left.seconds === right.seconds && left.nanos === right.nanos
  }
  if (left instanceof TypeValue) return right instanceof TypeValue && left.name === right.name
  if (left instanceof Optional) {
    if (!(right instanceof Optional)) return false
    if (left.value === undefined || right.value === undefined) return left.value === right.value
    return same(left.value, right.value, depth + 1)
  }
  return left instanceof Opaque && left.equals(right)
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  spendText(left.length)
  return left.length === right.length && left.every((byte, index) => byte === right[index])
}
