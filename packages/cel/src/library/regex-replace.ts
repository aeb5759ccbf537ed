import { overload, type PreparedCall } from '../declarations.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { tooLarge } from '../run/arithmetic.ts'
import { exhausted, MAX_SIZE, spend } from '../run/meter.ts'
import { typeName } from '../run/type-of.ts'
import { string } from '../types.ts'
import type { Result, Value } from '../value.ts'
import { method } from './define.ts'
import type { Regex } from './matches.ts'
import { compilePattern, regexOf, stepsOfRe2 } from './matches.ts'

export const regexFunctions = [
  method(
    'regexReplace',
    overload([string, string, string], string),
    'The first match of an RE2 pattern replaced; `$1` and `${name}` stand for groups.',
    (text: Value, pattern: Value, replacement: Value): Result => {
      if (typeof text !== 'string' || typeof pattern !== 'string' || typeof replacement !== 'string') {
        return mismatch(text, pattern, replacement)
      }
      const regex = regexOf(pattern)
      return regex instanceof CelError ? regex : meteredReplace(regex, text, replacement)
    },
    { pure: true, prepare: compileReplace },
  ),
]

/** Compiles a literal pattern at load, or rejects it. */
function compileReplace(known: readonly (Value | undefined)[]): PreparedCall | CelError | undefined {
  const pattern = known[1]
  if (typeof pattern !== 'string') return undefined
  const regex = compilePattern(pattern)
  if (regex instanceof CelError) return regex
  const callWith =
    (work: typeof replace) =>
    (text: Value, _pattern: Value, replacement: Value): Result =>
      typeof text === 'string' && typeof replacement === 'string'
        ? work(regex, text, replacement)
        : mismatch(text, pattern, replacement)
  return { call: callWith(meteredReplace), onceCall: callWith(replace) }
}

function meteredReplace(regex: Regex, text: string, replacement: string): Result {
  return spend(text.length * stepsOfRe2(regex)) ? replace(regex, text, replacement) : exhausted
}

function replace(regex: Regex, text: string, replacement: string): Result {
  // Each group reference may expand to the whole text.
  const references = replacement.split('$').length - 1
  if (text.length * (1 + references) + replacement.length > MAX_SIZE) return tooLarge
  return regex.replaceFirst(text, replacement)
}

function mismatch(...args: (Value | undefined)[]): CelError {
  const [text, pattern, replacement] = args.map((arg) => typeName(arg ?? null))
  return noSuchOverload(`${text}.regexReplace(${pattern}, ${replacement})`)
}
