import { CelError, noSuchOverload } from '../error.ts'
import { pathOf } from '../known-path.ts'
import type { Path, Plan } from '../plan.ts'
import { pathNames } from '../plan.ts'
import { typeName } from '../run/type-of.ts'
import type { Result } from '../value.ts'

/** Gives an error the source position of the operator that returned it. */
export function withOffset(result: Result, offset: number): Result {
  return result instanceof CelError ? result.at(offset) : result
}

/** The error for a declared name that is absent. */
export function missingPath(path: Path): CelError {
  return new CelError('no_such_key', `no such key: ${pathNames(path).join('.')}`, path.offset)
}

/** The error for a missing field, with the path to the field as far as it is known. */
export function missingField({ operand, field, offset }: { operand: Plan; field: string; offset: number }): CelError {
  const path = pathOf(operand)
  const names = path === undefined || path.open ? [field] : [...path.names, field]
  return new CelError('no_such_key', `no such key: ${names.join('.')}`, offset)
}

export function flagsOf(items: readonly { optional: boolean }[]): boolean[] | null {
  return items.some(({ optional }) => optional) ? items.map(({ optional }) => optional) : null
}

export function noMethod(receiver: Result, label: string): CelError {
  return receiver instanceof CelError ? receiver : noSuchOverload(`${typeName(receiver)}${label}`)
}

/**
 * The error after a getter or function of the host threw, or the stack overflowed. The original message may contain
 * request data, so it is dropped.
 */
export function errorOfThrown(error: unknown): CelError {
  return new CelError('internal', `evaluation threw ${error instanceof Error ? error.name : 'a value'}`)
}
