import { CelError, noSuchOverload } from '../error.ts'
import { Optional } from '../value.ts'
import type { Result, Value } from '../value.ts'
import { typeName } from './type-of.ts'

export function optionalOf(value: Value | undefined): Optional {
  return value === undefined ? Optional.none : new Optional(value)
}

/** The error for a value that must be an optional and is not. */
export function notOptional(value: Result): CelError {
  return value instanceof CelError ? value : noSuchOverload(`${typeName(value)} is not an optional`)
}

/** The result of `optMap` (a value) or `optFlatMap` (an optional). */
export function mapped(result: Result, flat: boolean): Result {
  if (result instanceof CelError) return result
  if (!flat) return new Optional(result)
  return result instanceof Optional ? result : notOptional(result)
}
