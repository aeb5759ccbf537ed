import { Optional } from '../value.ts'
import type { Value } from '../value.ts'
import type { Type } from '../types.ts'
import { join, listOf, mapOf, never, optionalType, scalar } from '../types.ts'
import { entriesOf } from './maps.ts'
import { isList, isMap, typeName } from './type-of.ts'

/** The type of a value, including the types of its items. */
export function typeOfValue(value: Value): Type {
  if (isList(value)) return listOf(joined(value))
  if (isMap(value)) {
    const entries = entriesOf(value)
    return mapOf(joined(entries.map(([key]) => key)), joined(entries.map(([, item]) => item)))
  }
  if (value instanceof Optional) return optionalType(value.value === undefined ? never : typeOfValue(value.value))
  return scalar(typeName(value))
}

function joined(values: readonly Value[]): Type {
  return values.map(typeOfValue).reduce(join, never)
}
