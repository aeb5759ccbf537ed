import { CelError, noSuchOverload } from '../error.ts'
import { Duration, Timestamp, Uint } from '../value.ts'
import type { Result, Value } from '../value.ts'
import { exhausted, MAX_SIZE, spend, spendText } from './meter.ts'
import { doubleOf, isDouble, isInt, toDouble, toInt, toUint } from './numbers.ts'
import { addDurations, addToTimestamp, negateDuration, subtractTimestamps } from './time.ts'
import { isList, typeName } from './type-of.ts'

export function add(left: Result, right: Result): Result {
  if (left instanceof CelError) return left
  if (right instanceof CelError) return right
  if (typeof left === 'string' && typeof right === 'string') return joinText(left, right)
  if (isList(left) && isList(right)) return concatLists(left, right)
  if (left instanceof Uint8Array && right instanceof Uint8Array) return concatBytes(left, right)
  if (left instanceof Timestamp && right instanceof Duration) return addToTimestamp(left, right)
  if (left instanceof Duration && right instanceof Timestamp) return addToTimestamp(right, left)
  if (left instanceof Duration && right instanceof Duration) return addDurations(left, right)
  return calculate(left, '+', right)
}

export function subtract(left: Result, right: Result): Result {
  if (left instanceof CelError) return left
  if (right instanceof CelError) return right
  if (left instanceof Timestamp && right instanceof Timestamp) return subtractTimestamps(left, right)
  if (left instanceof Timestamp && right instanceof Duration) return addToTimestamp(left, negateDuration(right))
  if (left instanceof Duration && right instanceof Duration) return addDurations(left, negateDuration(right))
  return calculate(left, '-', right)
}

export function multiply(left: Result, right: Result): Result {
  if (left instanceof CelError) return left
  return right instanceof CelError ? right : calculate(left, '*', right)
}

export function divide(left: Result, right: Result): Result {
  if (left instanceof CelError) return left
  if (right instanceof CelError) return right
  return isZero(right) ? new CelError('divide_by_zero', 'division by zero') : calculate(left, '/', right)
}

export function modulo(left: Result, right: Result): Result {
  if (left instanceof CelError) return left
  if (right instanceof CelError) return right
  if (isZero(right)) return new CelError('divide_by_zero', 'modulus by zero')
  return isDouble(left) ? mismatch(left, '%', right) : calculate(left, '%', right)
}

export function negate(operand: Result): Result {
  if (operand instanceof CelError) return operand
  if (isInt(operand)) return toInt(-BigInt(operand))
  if (isDouble(operand)) return toDouble(-doubleOf(operand))
  return noSuchOverload(`-${typeName(operand)}`)
}

function joinText(left: string, right: string): string | CelError {
  if (left.length + right.length > MAX_SIZE) return tooLarge
  return spendText(left.length + right.length) ? left + right : exhausted
}

export const tooLarge = new CelError('budget', 'the result is too large')

type Operator = '+' | '-' | '*' | '/' | '%'

/** Arithmetic in CEL has no implicit conversion: both operands must have the same type. */
function calculate(left: Value, operator: Operator, right: Value): Result {
  if (isInt(left) && isInt(right)) return toInt(ofWhole[operator](BigInt(left), BigInt(right)))
  if (isDouble(left) && isDouble(right)) return toDouble(ofDoubles[operator](doubleOf(left), doubleOf(right)))
  if (left instanceof Uint && right instanceof Uint) return toUint(ofWhole[operator](left.value, right.value))
  return mismatch(left, operator, right)
}

const ofWhole: Readonly<Record<Operator, (a: bigint, b: bigint) => bigint>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
}

const ofDoubles: Readonly<Record<Operator, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
}

function isZero(value: Value): boolean {
  return value === 0 || value === 0n || (value instanceof Uint && value.value === 0n)
}

function concatLists(left: readonly Value[], right: readonly Value[]): Result {
  return spend(left.length + right.length) ? [...left, ...right] : exhausted
}

function concatBytes(left: Uint8Array, right: Uint8Array): Result {
  if (left.length + right.length > MAX_SIZE) return tooLarge
  if (!spendText(left.length + right.length)) return exhausted
  const joined = new Uint8Array(left.length + right.length)
  joined.set(left)
  joined.set(right, left.length)
  return joined
}

function mismatch(left: Value, operator: string, right: Value): CelError {
  return noSuchOverload(`${typeName(left)} ${operator} ${typeName(right)}`)
}
