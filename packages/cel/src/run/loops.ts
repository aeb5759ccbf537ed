import { CelError, noSuchOverload } from '../error.ts'
import type { MapKey, Result, Value } from '../value.ts'
import { keysOf, lookup } from './maps.ts'
import { isList, isMap, typeName } from './type-of.ts'

/** The range of a loop with one variable: the items of a list or the keys of a map. */
export function itemsOf(range: Result): readonly Value[] | CelError {
  if (isList(range)) return range
  if (isMap(range)) return keysOf(range)
  return range instanceof CelError ? range : noSuchOverload(`a loop over ${typeName(range)}`)
}

/** The range of macros that take maps only. */
export function keysOfMap(range: Result): readonly MapKey[] | CelError {
  if (isMap(range)) return keysOf(range)
  return range instanceof CelError ? range : noSuchOverload(`${typeName(range)} is not a map`)
}

/** The value of a key that the loop is visiting. */
export function valueAt(range: Result, key: MapKey): Value {
  return isMap(range) ? (lookup(range, key) ?? null) : null
}

/** The error for a predicate that is not a bool. */
export function badPredicate(result: Result): CelError {
  return result instanceof CelError ? result : noSuchOverload(`a condition that gives ${typeName(result)}`)
}
