import type { Json } from '../schema/kit.ts'

/** A part of an outcome that is not as expected. */
export interface Difference {
  /** The path of the field: `upstream.headers.x-user`. */
  readonly field: readonly string[]
  /** The expectation in words. */
  readonly expected: string
  readonly actual: string
}

/** The matcher itself is invalid: its message says why. */
export class BadMatcher extends Error {}

/**
 * Compares a value with a matcher: a text, `~ pattern`, `< 5`, `!= text`, null for an absent value, a list of
 * alternatives or, for lists, of items, and a mapping of members. Returns what differs.
 */
export function differences(matcher: Json, actual: unknown, field: readonly string[]): Difference[] {
  const differs = (expected = print(matcher)): Difference[] => [{ field, expected, actual: print(actual) }]
  if (matcher === null) return actual === null || actual === undefined ? [] : differs('nothing')
  if (Array.isArray(matcher)) return listDifferences(matcher, actual, field)
  if (typeof matcher === 'object') {
    const members = memberSource(actual)
    if (members === null) return differs()
    const memberAt = (name: string): unknown => (Object.hasOwn(members, name) ? members[name] : undefined)
    return Object.entries(matcher).flatMap(([name, each]) => differences(each, memberAt(name), [...field, name]))
  }
  if (typeof matcher === 'string') {
    const verdict = byOperator(matcher, actual)
    if (verdict !== null) return verdict ? [] : differs(matcher)
  }
  return isEqual(matcher, actual) ? [] : differs()
}

function listDifferences(matcher: readonly Json[], actual: unknown, field: readonly string[]): Difference[] {
  if (Array.isArray(actual)) {
    const isSame =
      actual.length === matcher.length &&
      matcher.every((each, index) => differences(each, actual[index], []).length === 0)
    return isSame ? [] : [{ field, expected: print(matcher), actual: print(actual) }]
  }
  const isOne = matcher.some((each) => differences(each, actual, []).length === 0)
  return isOne ? [] : [{ field, expected: `one of ${print(matcher)}`, actual: print(actual) }]
}

/** The result of a matcher that begins with an operator; null for a plain text. */
function byOperator(matcher: string, actual: unknown): boolean | null {
  const [, operator, operand = ''] = /^(~|!=|<=|>=|<|>) (.*)$/s.exec(matcher) ?? []
  if (operator === undefined) return null
  if (operator === '~') return scalarText(actual) !== null && patternOf(operand).test(scalarText(actual) ?? '')
  if (operator === '!=') return !isEqual(operand, actual)
  const bound = Number(operand)
  if (operand.trim() === '' || Number.isNaN(bound))
    throw new BadMatcher(`found ${JSON.stringify(operand)} after ${operator}, expected a number`)
  const value = actual === null || actual === undefined || actual === '' ? Number.NaN : Number(actual)
  switch (operator) {
    case '<':
      return value < bound
    case '<=':
      return value <= bound
    case '>':
      return value > bound
    default:
      return value >= bound
  }
}

function patternOf(source: string): RegExp {
  try {
    return new RegExp(source, 's')
  } catch (error) {
    throw new BadMatcher(`found a pattern that is invalid: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Numbers and texts of the same digits are equal, because YAML and headers write them differently. */
function isEqual(matcher: Json, actual: unknown): boolean {
  if (actual === matcher) return true
  const text = scalarText(actual)
  return text !== null && typeof matcher !== 'object' && text === String(matcher)
}

function scalarText(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
}

/** The members of a value; a text that is JSON has those of the JSON. */
function memberSource(actual: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof actual === 'string') {
    try {
      const parsed: unknown = JSON.parse(actual)
      return typeof parsed === 'string' ? null : memberSource(parsed)
    } catch {
      return null
    }
  }
  return typeof actual === 'object' && actual !== null ? (actual as Readonly<Record<string, unknown>>) : null
}

function print(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text
}

const MOST_TEXT = 500
