import { overload } from '../declarations.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { sizeOf } from '../run/maps.ts'
import { isList, isMap, typeName } from '../run/type-of.ts'
import { bool, never, optionalType, parameter } from '../types.ts'
import type { Result, Value } from '../value.ts'
import { Double, Duration, Optional, Timestamp, Uint } from '../value.ts'
import { globalFunction, method } from './define.ts'

const anything = parameter('value')

/** `or` and `orValue` are macros of the language, because their argument is evaluated only when needed. */
export const optionalFunctions = [
  globalFunction(
    'optional.of',
    overload([anything], optionalType(anything)),
    'An optional with this value.',
    (value: Value) => new Optional(value),
  ),
  globalFunction('optional.none', overload([], optionalType(never)), 'An empty optional.', () => Optional.none),
  globalFunction(
    'optional.ofNonZeroValue',
    overload([anything], optionalType(anything)),
    'Empty for null, zero, false, and whatever is empty.',
    (value: Value) => (isZero(value) ? Optional.none : new Optional(value)),
  ),
  method(
    'hasValue',
    overload([optionalType('dyn')], bool),
    'Whether an optional is not empty.',
    (value: Value): Result => (value instanceof Optional ? value.value !== undefined : mismatch(value, 'hasValue')),
  ),
  method(
    'value',
    overload([optionalType(anything)], anything),
    'The content of an optional; an error when it is empty.',
    (value: Value): Result => {
      if (!(value instanceof Optional)) return mismatch(value, 'value')
      return value.value ?? (value.value === null ? null : new CelError('bad_value', 'the optional is empty'))
    },
  ),
]

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === 0n || value === '') return true
  if (value instanceof Double) return value.value === 0
  if (value instanceof Uint) return value.value === 0n
  if (isList(value) || value instanceof Uint8Array) return value.length === 0
  if (value instanceof Timestamp || value instanceof Duration) return value.seconds === 0 && value.nanos === 0
  return isMap(value) && sizeOf(value) === 0
}

function mismatch(value: Value, name: string): CelError {
  return noSuchOverload(`${typeName(value)}.${name}()`)
}
