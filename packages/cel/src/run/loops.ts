import { CelError, noSuchOverload } from '../error.ts'
import type { MapKey, Result, Value } from '../value.ts'
import { keysOf, lookup } from './maps.ts'
import { isList, isMap, typeName } from './type-of.ts'

/** What a loop with one variable goes over: the items of a list, the keys of a map. */
export function itemsOf(range: Result): readonly Value[] | CelError {
  if (isList(range)) return range
  if (isMap(range)) return keysOf(range)
  return range instanceof CelError ? range : noSuchOverload(`a loop over ${typeName(range)}`)
}

/** For macros that know maps only. */
export function keysOfMap(range: Result): readonly MapKey[] | CelError {
  if (isMap(range)) return keysOf(range)
  return range instanceof CelError ? range : noSuchOverload(`${typeName(range)} is not a map`)
}

/** The value of a key that the loop has just been given. */
export function valueAt(range: Result, key: MapKey): Value {
  return isMap(range) ? (lookup(range, key) ?? null) : null
}

/** A condition that gave neither true nor false. */
export function badPredicate(result: Result): CelError {
  return result instanceof CelError ? result : noSuchOverload(`a condition that gives ${typeName(result)}`)
}
