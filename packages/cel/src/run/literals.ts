import { CelError } from '../error.ts'
import type { Result, Value } from '../value.ts'
import { optionalItem } from './logic.ts'
import { MapBuilder } from './maps.ts'

/** Builds a list. An item with `optional[i]` set is an optional, and is left out when it is empty. */
export function makeList(items: Result[], optional: readonly boolean[] | null): Result {
  const list: Value[] = []
  for (const [index, item] of items.entries()) {
    const value = optional?.[index] ? optionalItem(item) : item
    if (value instanceof CelError) return value
    if (value !== undefined) list.push(value)
  }
  return list
}

/** Builds a map from alternating keys and values. */
export function makeMap(parts: Result[], optional: readonly boolean[] | null): Result {
  const builder = new MapBuilder()
  for (let at = 0; at < parts.length; at += 2) {
    const [key = null, item = null] = [parts[at], parts[at + 1]]
    if (key instanceof CelError) return key
    const value = optional?.[at / 2] ? optionalItem(item) : item
    if (value instanceof CelError) return value
    const problem = value === undefined ? undefined : builder.add(key, value)
    if (problem !== undefined) return problem
  }
  return builder.map
}
