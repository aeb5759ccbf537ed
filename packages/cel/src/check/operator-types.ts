import type { Overload } from '../declarations.ts'
import { overload } from '../declarations.ts'
import type { BinaryOperator } from '../parse/ast.ts'
import type { Type } from '../types.ts'
import { bool, bytes, double, duration, int, listOf, mayBe, never, number, parameter } from '../types.ts'
import { string, timestamp, uint } from '../types.ts'
import { resultOf } from './overloads.ts'

const ofEachNumber = [int, uint, double].map((type) => overload([type, type], type))
const items = listOf(parameter('item'))
const order = [number, string, bytes, bool, timestamp, duration].map((type) => overload([type, type], bool))

const overloads: Readonly<Record<Exclude<BinaryOperator, '==' | '!=' | 'in'>, readonly Overload[]>> = {
  '<': order,
  '<=': order,
  '>': order,
  '>=': order,
  '+': [
    ...ofEachNumber,
    overload([string, string], string),
    overload([bytes, bytes], bytes),
    overload([items, items], items),
    overload([timestamp, duration], timestamp),
    overload([duration, timestamp], timestamp),
    overload([duration, duration], duration),
  ],
  '-': [
    ...ofEachNumber,
    overload([timestamp, timestamp], duration),
    overload([timestamp, duration], timestamp),
    overload([duration, duration], duration),
  ],
  '*': ofEachNumber,
  '/': ofEachNumber,
  '%': [overload([int, int], int), overload([uint, uint], uint)],
}

export const negation = [overload([int], int), overload([double], double)]

/** The result type of an operator; undefined when the operands do not fit it or the comparison is never true. */
export function binaryType(operator: BinaryOperator, left: Type, right: Type): Type | undefined {
  if (operator === '==' || operator === '!=') return mayEqual(left, right) ? bool : undefined
  if (operator === 'in') return mayBeIn(left, right) ? bool : undefined
  return resultOf(overloads[operator], [left, right])
}

function mayBeIn(item: Type, container: Type): boolean {
  if (container === 'dyn' || container.length === 0) return true
  return container.some(
    ({ name, of: [parts = never] }) => (name === 'list' || name === 'map') && mayBeOneOf(item, parts),
  )
}

/** A container with items of several types may hold any item, as in CEL, which has no union types. */
function mayBeOneOf(item: Type, parts: Type): boolean {
  return parts.length !== 1 || mayEqual(item, parts)
}

/** Whether values of these types can be equal. Every type may be compared with null. */
function mayEqual(left: Type, right: Type): boolean {
  if (mayBe(left, right) || (mayBe(left, number) && mayBe(right, number))) return true
  return isOpen(left) || isOpen(right)
}

/** Null and host types, which may define equality with strings. */
function isOpen(type: Type): boolean {
  return type === 'dyn' || type.some(({ name }) => !CLOSED.has(name))
}

const CLOSED = new Set([
  ...['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map', 'type', 'optional_type'],
  ...['google.protobuf.Timestamp', 'google.protobuf.Duration', 'net.IP', 'net.CIDR'],
])
