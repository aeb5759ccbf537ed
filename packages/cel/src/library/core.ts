import { overload } from '../declarations.ts'
import type { CelError } from '../error.ts'
import { noSuchOverload } from '../error.ts'
import { sizeOf } from '../run/maps.ts'
import { isList, isMap, typeName, typeOf } from '../run/type-of.ts'
import { bool, bytes, int, list, map, oneOf, string, typeType } from '../types.ts'
import type { Result, Value } from '../value.ts'
import { codePointLength } from './code-points.ts'
import { globalFunction, method } from './define.ts'
import { compileMatches, matches } from './matches.ts'

const sized = overload([oneOf(string, bytes, list, map)], int)
const textTest = overload([string, string], bool)

export const coreFunctions = [
  globalFunction('size', sized, 'Characters of a string, bytes, items of a list, entries of a map.', size),
  method('size', sized, 'The same as size(v).', size),
  globalFunction('type', overload(['dyn'], typeType), 'The type of a value.', typeOf),
  globalFunction('dyn', overload(['dyn'], 'dyn'), 'The value itself.', (value: Value) => value),
  method('startsWith', textTest, 'Whether a string starts with another.', startsWith),
  method('endsWith', textTest, 'Whether a string ends with another.', endsWith),
  method('contains', textTest, 'Whether a string contains another.', contains),
  method('matches', textTest, 'Whether an RE2 pattern is found in a string.', matches, {
    pure: true,
    prepare: compileMatches,
  }),
  globalFunction('matches', textTest, 'The same as s.matches(pattern).', matches, {
    pure: true,
    prepare: compileMatches,
  }),
]

function size(value: Value): Result {
  if (typeof value === 'string') return codePointLength(value)
  if (value instanceof Uint8Array || isList(value)) return value.length
  return isMap(value) ? sizeOf(value) : noSuchOverload(`size(${typeName(value)})`)
}

function startsWith(text: Value, prefix: Value): boolean | CelError {
  if (typeof text !== 'string' || typeof prefix !== 'string') return mismatch(text, 'startsWith', prefix)
  return text.startsWith(prefix)
}

function endsWith(text: Value, suffix: Value): boolean | CelError {
  if (typeof text !== 'string' || typeof suffix !== 'string') return mismatch(text, 'endsWith', suffix)
  return text.endsWith(suffix)
}

function contains(text: Value, part: Value): boolean | CelError {
  if (typeof text !== 'string' || typeof part !== 'string') return mismatch(text, 'contains', part)
  return text.includes(part)
}

function mismatch(text: Value, name: string, argument: Value): CelError {
  return noSuchOverload(`${typeName(text)}.${name}(${typeName(argument)})`)
}
