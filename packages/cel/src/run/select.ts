import { CelError, noSuchOverload } from '../error.ts'
import { Optional } from '../value.ts'
import type { Result, Value } from '../value.ts'
import { lookup } from './maps.ts'
import { wholeNumber } from './numbers.ts'
import { optionalOf } from './optionals.ts'
import { isList, isMap, typeName } from './type-of.ts'

/**
 * Evaluates `operand.field`. An absent variable is undefined here; like null it has no fields, so the result is `missing`.
 */
export function select(operand: Result | undefined, field: string, missing: CelError): Result {
  if (operand instanceof CelError) return operand
  if (operand === undefined || operand === null) return missing
  if (isMap(operand)) {
    // `??` is not used, because null is a value.
    const value = lookup(operand, field)
    return value === undefined ? missing : value
  }
  if (operand instanceof Optional) return throughOptional(operand, (inner) => select(inner, field, missing))
  return noSuchOverload(`${typeName(operand)}.${field}`)
}

/** Evaluates `operand[key]`. */
export function index(operand: Result, key: Result): Result {
  if (operand instanceof CelError) return operand
  if (key instanceof CelError) return key
  if (isList(operand)) return indexList(operand, key)
  if (operand === null) return noSuchKey(key)
  if (isMap(operand)) {
    const value = lookup(operand, key)
    return value === undefined ? noSuchKey(key) : value
  }
  if (operand instanceof Optional) return throughOptional(operand, (inner) => index(inner, key))
  return noSuchOverload(`${typeName(operand)}[${typeName(key)}]`)
}

function indexList(list: readonly Value[], key: Value): Result {
  const position = wholeNumber(key)
  if (position === undefined) return new CelError('bad_index', `a list has no item ${typeName(key)}`)
  // Items that the host left undefined read as null.
  if (position >= 0 && position < list.length) return list[position] ?? null
  return new CelError('bad_index', `index out of range: ${position}`)
}

function noSuchKey(key: Value): CelError {
  return new CelError('no_such_key', `no such key: ${typeof key === 'string' ? key : typeName(key)}`)
}

/** Evaluates `has(operand.field)`. */
export function has(operand: Result | undefined, field: string): boolean | CelError {
  if (operand instanceof CelError) return operand
  if (operand === undefined || operand === null) return false
  if (isMap(operand)) return lookup(operand, field) !== undefined
  if (operand instanceof Optional) return operand.value !== undefined && has(operand.value, field)
  return noSuchOverload(`has(${typeName(operand)}.${field})`)
}

/** Evaluates `operand.?field` and `operand[?key]`: an optional that is empty when the key is missing. */
export function optionalIndex(operand: Result, key: Result): Result {
  if (operand instanceof CelError) return operand
  if (key instanceof CelError) return key
  if (operand === null) return Optional.none
  if (isMap(operand)) return optionalOf(lookup(operand, key))
  if (isList(operand)) {
    const position = wholeNumber(key)
    if (position === undefined) return new CelError('bad_index', `a list has no item ${typeName(key)}`)
    return optionalOf(operand[position])
  }
  if (operand instanceof Optional) {
    return operand.value === undefined ? operand : optionalIndex(operand.value, key)
  }
  return noSuchOverload(`${typeName(operand)}[?${typeName(key)}]`)
}

/** Selecting from an optional returns an optional: an empty one for an empty operand or a missing key. */
function throughOptional(operand: Optional, read: (inner: Value) => Result): Result {
  if (operand.value === undefined) return operand
  const result = read(operand.value)
  if (result instanceof CelError) {
    const isAbsent = (result.kind === 'no_such_key' || result.kind === 'bad_index') && operand.value !== null
    return isAbsent ? Optional.none : result
  }
  return result instanceof Optional ? result : new Optional(result)
}
