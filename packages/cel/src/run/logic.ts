import { CelError, noSuchOverload } from '../error.ts'
import { Optional } from '../value.ts'
import type { Result, Value } from '../value.ts'
import { equals } from './equality.ts'
import { lookup } from './maps.ts'
import { exhausted, spend } from './meter.ts'
import { isList, isMap, typeName } from './type-of.ts'

/** The result when no operand decides: the error of the first operand that is not a bool, if there is one. */
export function undecided(operator: '&&' | '||', items: readonly Result[]): Result {
  for (const item of items) {
    if (item instanceof CelError) return item
    if (typeof item !== 'boolean') return noSuchOverload(`${typeName(item)} ${operator} …`)
  }
  return operator === '&&'
}

export function not(operand: Result): Result {
  if (typeof operand === 'boolean') return !operand
  return operand instanceof CelError ? operand : noSuchOverload(`!${typeName(operand)}`)
}

/** The error for a condition that is not a bool. */
export function badCondition(test: Result): CelError {
  return test instanceof CelError ? test : noSuchOverload(`${typeName(test)} ? … : …`)
}

export function isIn(item: Result, container: Result): Result {
  if (item instanceof CelError) return item
  if (container instanceof CelError) return container
  if (isList(container)) return isInList(item, container)
  if (isMap(container)) return lookup(container, item) !== undefined
  return noSuchOverload(`${typeName(item)} in ${typeName(container)}`)
}

function isInList(item: Value, list: readonly Value[]): boolean | CelError {
  if (typeof item === 'string') {
    return spend(1 + (list.length >> 3)) ? list.includes(item) : exhausted
  }
  for (const other of list) {
    const result = equals(item, other)
    if (result !== false) return result
  }
  return false
}

/** The value of an optional item of a list or map literal; undefined when the optional is empty. */
export function optionalItem(item: Result): Value | undefined | CelError {
  if (item instanceof CelError) return item
  return item instanceof Optional ? item.value : noSuchOverload(`?${typeName(item)} in a list or map`)
}
