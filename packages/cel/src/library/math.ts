import { overload } from '../declarations.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { asDouble } from '../run/equality.ts'
import { exhausted, spend } from '../run/meter.ts'
import { doubleOf, isDouble, isInt, isNumeric, toDouble, toInt } from '../run/numbers.ts'
import { compare } from '../run/order.ts'
import { isList, typeName } from '../run/type-of.ts'
import { bool, double, int, listOf, number, oneOf, parameter, uint } from '../types.ts'
import type { Result, Value } from '../value.ts'
import { Uint } from '../value.ts'
import { globalFunction } from './define.ts'

const anyNumber = parameter('number', number)
const whole = parameter('whole', oneOf(int, uint))
const ofNumbers = [overload([listOf(anyNumber)], anyNumber), overload([anyNumber], anyNumber, anyNumber)]

export const mathFunctions = [
  ...['math.greatest', 'max'].map((name) =>
    globalFunction(name, ofNumbers, 'The greatest of numbers, or of a list of them.', extreme(name, 1)),
  ),
  ...['math.least', 'min'].map((name) =>
    globalFunction(name, ofNumbers, 'The least of numbers, or of a list of them.', extreme(name, -1)),
  ),
  ofDouble('ceil', 'Rounds up.', Math.ceil),
  ofDouble('floor', 'Rounds down.', Math.floor),
  ofDouble(
    'round',
    'Rounds to the nearest, half away from zero.',
    (value) => Math.sign(value) * Math.round(Math.abs(value)),
  ),
  ofDouble('trunc', 'Removes the decimals.', Math.trunc),
  testOfDouble('isNaN', 'Whether a double is not a number.', Number.isNaN),
  testOfDouble('isInf', 'Whether a double is infinite.', (value) => Math.abs(value) === Infinity),
  testOfDouble('isFinite', 'Whether a double is finite.', Number.isFinite),
  globalFunction(
    'math.abs',
    overload([anyNumber], anyNumber),
    'The number without its sign.',
    (value: Value): Result => {
      if (isInt(value)) return toInt(value < 0 ? -BigInt(value) : BigInt(value))
      if (isDouble(value)) return toDouble(Math.abs(doubleOf(value)))
      return value instanceof Uint ? value : mismatch('abs', value)
    },
  ),
  globalFunction(
    'math.sign',
    overload([anyNumber], anyNumber),
    '-1, 0 or 1, in the type of the number.',
    (value: Value): Result => {
      if (isInt(value)) return value > 0 ? 1 : value < 0 ? -1 : 0
      if (isDouble(value)) return toDouble(Math.sign(doubleOf(value)))
      return value instanceof Uint ? new Uint(value.value > 0n ? 1n : 0n) : mismatch('sign', value)
    },
  ),
  globalFunction('math.sqrt', overload([number], double), 'The square root, a double.', (value: Value): Result =>
    isNumeric(value) ? toDouble(Math.sqrt(asDouble(value))) : mismatch('sqrt', value),
  ),
  bitwise('bitAnd', 'Bits set in both.', (a, b) => a & b),
  bitwise('bitOr', 'Bits set in one or both.', (a, b) => a | b),
  bitwise('bitXor', 'Bits set in one only.', (a, b) => a ^ b),
  globalFunction('math.bitNot', overload([whole], whole), 'All bits inverted.', (value: Value): Result => {
    if (isInt(value)) return toInt(~BigInt(value))
    return value instanceof Uint ? new Uint(BigInt.asUintN(64, ~value.value)) : mismatch('bitNot', value)
  }),
  shift('bitShiftLeft', 'Bits shifted left.', (bits, by) => bits << by),
  shift('bitShiftRight', 'Bits shifted right; zeros come in on the left.', (bits, by) => bits >> by),
]

function extreme(name: string, direction: 1 | -1) {
  return (...args: Value[]): Result => {
    const [first] = args
    const numbers = args.length === 1 && isList(first) ? first : args
    let best = numbers[0]
    if (best === undefined) return new CelError('bad_value', `${name} of an empty list`)
    if (!spend(numbers.length)) return exhausted
    for (const number of numbers) {
      if (!isNumeric(number)) return noSuchOverload(`${name}(${typeName(number)})`)
      const order = compare(number, best, '<')
      if (order instanceof CelError) return order
      if (order * direction > 0) best = number
    }
    return best
  }
}

function ofDouble(name: string, summary: string, apply: (value: number) => number) {
  return globalFunction(`math.${name}`, overload([double], double), summary, (value: Value): Result =>
    isDouble(value) ? toDouble(apply(doubleOf(value))) : mismatch(name, value),
  )
}

function testOfDouble(name: string, summary: string, test: (value: number) => boolean) {
  return globalFunction(`math.${name}`, overload([double], bool), summary, (value: Value): Result =>
    isDouble(value) ? test(doubleOf(value)) : mismatch(name, value),
  )
}

function bitwise(name: string, summary: string, apply: (a: bigint, b: bigint) => bigint) {
  const overloads = [overload([int, int], int), overload([uint, uint], uint)]
  return globalFunction(`math.${name}`, overloads, summary, (left: Value, right: Value): Result => {
    if (isInt(left) && isInt(right)) return toInt(apply(BigInt(left), BigInt(right)))
    if (left instanceof Uint && right instanceof Uint) return new Uint(apply(left.value, right.value))
    return mismatch(name, left, right)
  })
}

function shift(name: string, summary: string, apply: (bits: bigint, by: bigint) => bigint) {
  return globalFunction(`math.${name}`, overload([whole, int], whole), summary, (value: Value, by: Value): Result => {
    if (!isInt(by) || !(isInt(value) || value instanceof Uint)) return mismatch(name, value, by)
    if (by < 0) return new CelError('bad_value', `${name} by a negative number`)
    const bits = BigInt.asUintN(64, value instanceof Uint ? value.value : BigInt(value))
    const moved = by > 63 ? 0n : BigInt.asUintN(64, apply(bits, BigInt(by)))
    return value instanceof Uint ? new Uint(moved) : toInt(BigInt.asIntN(64, moved))
  })
}

function mismatch(name: string, ...args: Value[]): CelError {
  return noSuchOverload(`math.${name}(${args.map(typeName).join(', ')})`)
}
