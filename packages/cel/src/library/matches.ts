import { compileRegex } from '@portico/regex'
import type { PreparedCall } from '../declarations.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { exhausted, spend } from '../run/meter.ts'
import { typeName } from '../run/type-of.ts'
import type { Result, Value } from '../value.ts'

export type Regex = Extract<ReturnType<typeof compileRegex>, { ok: true }>

export function matches(text: Value, pattern: Value): Result {
  if (typeof text !== 'string' || typeof pattern !== 'string') return mismatch(text, pattern)
  const regex = regexOf(pattern)
  return regex instanceof CelError ? regex : search(regex, text)
}

/** Compiles a literal pattern at load, or rejects it. */
export function compileMatches(known: readonly (Value | undefined)[]): PreparedCall | CelError | undefined {
  const pattern = known[1]
  if (typeof pattern !== 'string') return undefined
  const regex = compilePattern(pattern)
  if (regex instanceof CelError) return regex
  return {
    call: (text: Value) => (typeof text === 'string' ? search(regex, text) : mismatch(text, pattern)),
    onceCall: (text: Value) => (typeof text === 'string' ? regex.search(text) : mismatch(text, pattern)),
  }
}

function search(regex: Regex, text: string): boolean | CelError {
  const perCharacter = regex.searchEngine === 're2' ? stepsOfRe2(regex) : 1 / 16
  return spend(1 + Math.ceil(text.length * perCharacter)) ? regex.search(text) : exhausted
}

/** Steps that RE2 takes per character, calibrated roughly. */
export function stepsOfRe2({ size }: Regex): number {
  return 1 + (size >> 5)
}

export function compilePattern(pattern: string): Regex | CelError {
  const regex = compileRegex(pattern)
  return regex.ok ? regex : new CelError('bad_value', regex.message)
}

const cache = new Map<string, Regex>()
const MAX_CACHED = 100
const STEPS_PER_CHARACTER = 500
const STEPS_PER_INSTRUCTION = 200

/** Compiles a pattern that is data and charges the budget for it. The worst takes milliseconds, so a few are cached. */
export function regexOf(pattern: string): Regex | CelError {
  const known = cache.get(pattern)
  if (known !== undefined) return known
  if (!spend(STEPS_PER_CHARACTER * (1 + pattern.length))) return exhausted
  const regex = compilePattern(pattern)
  if (regex instanceof CelError) return regex
  if (!spend(STEPS_PER_INSTRUCTION * regex.size)) return exhausted
  if (cache.size === MAX_CACHED) cache.clear()
  cache.set(pattern, regex)
  return regex
}

function mismatch(text: Value, pattern: Value): CelError {
  return noSuchOverload(`${typeName(text)}.matches(${typeName(pattern)})`)
}
