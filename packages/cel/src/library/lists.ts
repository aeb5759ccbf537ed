import { overload } from '../declarations.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { same } from '../run/equality.ts'
import { exhausted, MAX_SIZE, spend } from '../run/meter.ts'
import { compare } from '../run/order.ts'
import { tooLarge } from '../run/arithmetic.ts'
import { isList, typeName } from '../run/type-of.ts'
import { bool, int, list, listOf, parameter } from '../types.ts'
import type { Result, Value } from '../value.ts'
import { globalFunction, method } from './define.ts'

const items = listOf(parameter('item'))
const twoLists = overload([list, list], bool)

/** Functions of the `lists` and `sets` extensions of cel-go. */
export const listFunctions = [
  method(
    'distinct',
    overload([items], items),
    'The items without repetitions, in the order of their first ones.',
    distinct,
  ),
  method(
    'sort',
    overload([items], items),
    'The items in ascending order; all are of one type that has an order.',
    sort,
  ),
  method(
    'slice',
    overload([items, int, int], items),
    'The items from the first index up to, and without, the second.',
    slice,
  ),
  method(
    'flatten',
    [overload([list], list), overload([list, int], list)],
    'Nested lists replaced by their items, one level deep or as many levels as the argument.',
    flatten,
  ),
  globalFunction(
    'sets.contains',
    twoLists,
    'Whether the first list has every item of the second.',
    (of: Value, some: Value) => (isList(of) && isList(some) ? every(some, of) : mismatch('contains', of, some)),
  ),
  globalFunction('sets.equivalent', twoLists, 'Whether each list has every item of the other.', equivalent),
  globalFunction('sets.intersects', twoLists, 'Whether the lists have an item in common.', intersects),
]

function distinct(value: Value): Result {
  if (!isList(value)) return noSuchOverload(`${typeName(value)}.distinct()`)
  const texts = new Set<string>()
  const others: Value[] = []
  const kept: Value[] = []
  for (const item of value) {
    if (!spend(1)) return exhausted
    if (typeof item === 'string') {
      if (texts.has(item)) continue
      texts.add(item)
    } else {
      const isKnown = includes(others, item)
      if (isKnown instanceof CelError) return isKnown
      if (isKnown) continue
      others.push(item)
    }
    kept.push(item)
  }
  return kept
}

/** Charges one step for each item visited. */
function includes(found: readonly Value[], item: Value): boolean | CelError {
  for (const other of found) {
    if (!spend(1)) return exhausted
    if (same(other, item, 0)) return true
  }
  return false
}

function sort(value: Value): Result {
  if (!isList(value)) return noSuchOverload(`${typeName(value)}.sort()`)
  const [first] = value
  if (first === undefined) return value
  const kind = typeName(first)
  const other = value.find((item) => typeName(item) !== kind)
  if (other !== undefined) {
    return new CelError('bad_value', `list elements must have the same type: ${kind} and ${typeName(other)}`)
  }
  // A list of one item is compared with itself, because its type must be ordered.
  const problem = compare(first, first, '<')
  if (problem instanceof CelError) return noSuchOverload(`list of ${kind}.sort()`)
  if (!spend(value.length * Math.ceil(Math.log2(value.length + 1)))) return exhausted
  let failure: CelError | null = null
  const sorted = value.toSorted((left, right) => {
    const order = compare(left, right, '<')
    if (!(order instanceof CelError)) return order
    failure ??= order
    return 0
  })
  return failure ?? sorted
}

function slice(value: Value, from: Value, to: Value): Result {
  if (
    !isList(value) ||
    typeof from !== 'number' ||
    typeof to !== 'number' ||
    !Number.isSafeInteger(from) ||
    !Number.isSafeInteger(to)
  ) {
    return noSuchOverload(`${typeName(value)}.slice(${typeName(from)}, ${typeName(to)})`)
  }
  if (from < 0 || to < 0) return new CelError('bad_value', `slice(${from}, ${to}): negative indexes not supported`)
  if (from > to) {
    return new CelError('bad_value', `slice(${from}, ${to}): start index must be less than or equal to end index`)
  }
  if (to > value.length) return new CelError('bad_value', `slice(${from}, ${to}): list is length ${value.length}`)
  return value.slice(from, to)
}

function flatten(value: Value, depth: Value = 1): Result {
  if (!isList(value) || typeof depth !== 'number' || !Number.isSafeInteger(depth))
    return noSuchOverload(`${typeName(value)}.flatten(${typeName(depth)})`)
  if (depth < 0) return new CelError('bad_value', 'level must be non-negative')
  const flat: Value[] = []
  return addFlat(value, depth, flat) ?? flat
}

function addFlat(value: readonly Value[], depth: number, flat: Value[]): CelError | null {
  for (const item of value) {
    if (!spend(1)) return exhausted
    if (depth > 0 && isList(item)) {
      const failure = addFlat(item, depth - 1, flat)
      if (failure !== null) return failure
    } else if (flat.push(item) > MAX_SIZE) return tooLarge
  }
  return null
}

/** Whether `of` contains every wanted item. */
function every(wanted: readonly Value[], of: readonly Value[]): boolean | CelError {
  for (const item of wanted) {
    const isIn = includes(of, item)
    if (isIn !== true) return isIn
  }
  return true
}

function equivalent(left: Value, right: Value): Result {
  if (!isList(left) || !isList(right)) return mismatch('equivalent', left, right)
  const first = every(left, right)
  return first === true ? every(right, left) : first
}

function intersects(left: Value, right: Value): Result {
  if (!isList(left) || !isList(right)) return mismatch('intersects', left, right)
  for (const item of left) {
    const isIn = includes(right, item)
    if (isIn !== false) return isIn
  }
  return false
}

function mismatch(name: string, left: Value, right: Value): CelError {
  return noSuchOverload(`sets.${name}(${typeName(left)}, ${typeName(right)})`)
}
