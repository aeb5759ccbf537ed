import { CelError } from '../error.ts'
import { Double, Uint } from '../value.ts'
import type { Value } from '../value.ts'

const INT_MIN = -(2n ** 63n)
const INT_MAX = 2n ** 63n - 1n
const UINT_MAX = 2n ** 64n - 1n

export function isInt64(value: bigint): boolean {
  return value >= INT_MIN && value <= INT_MAX
}

export function isUint64(value: bigint): boolean {
  return value >= 0n && value <= UINT_MAX
}

/** Returns an int as a number when it is a safe integer, otherwise as a bigint. */
export function narrow(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

export function toInt(value: bigint): number | bigint | CelError {
  return isInt64(value) ? narrow(value) : new CelError('overflow', 'int overflow')
}

export function toUint(value: bigint): Uint | CelError {
  return isUint64(value) ? new Uint(value) : new CelError('overflow', 'uint overflow')
}

/** Boxes integral doubles, which would otherwise read as ints. */
export function toDouble(value: number): number | Double {
  return Number.isSafeInteger(value) ? new Double(value) : value
}

export function isInt(value: unknown): value is number | bigint {
  return typeof value === 'number' ? Number.isSafeInteger(value) : typeof value === 'bigint'
}

export function isDouble(value: unknown): value is number | Double {
  return typeof value === 'number' ? !Number.isSafeInteger(value) : value instanceof Double
}

export function doubleOf(value: number | Double): number {
  return typeof value === 'number' ? value : value.value
}

export function isNumeric(value: Value): value is number | bigint | Double | Uint {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof Double || value instanceof Uint
}

/** Returns the value as a count or index; undefined when it is not an integer. */
export function wholeNumber(value: Value): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined
  if (value instanceof Double) return value.value
  if (value instanceof Uint) return Number(value.value)
  return typeof value === 'bigint' ? Number(value) : undefined
}
