import type { Field } from '../../core/yaml-field.ts'
import type { Condition } from '../../http/conditions.ts'
import { escapeRegex } from '../../http/paths.ts'
import { memberAt } from './message.ts'
import { readStringMatcher, regexTest, type TextTest } from './string-matcher.ts'

const ALWAYS: Condition = { kind: 'always', value: true }

/** Reads a HeaderMatcher. A request without the header does not match, even if the comparison is inverted. */
export function readHeaderMatcher(matcher: Field): Condition {
  const name = memberAt(matcher, 'name')?.text?.toLowerCase() ?? ''
  if (!/^:?[\w!#$%&'*+.^`|~-]+$/.test(name)) return unknown('the header has no valid name')
  const isInverted = memberAt(matcher, 'invert_match')?.isTrue === true
  const present = memberAt(matcher, 'present_match')
  const any: Condition = PSEUDO.has(name) ? ALWAYS : { kind: 'header', header: { name, value: { regex: '.*' } } }
  const test = testOf(matcher)
  if (test === null) {
    const isAbsent = (present?.text === 'false') !== isInverted
    return isAbsent ? { kind: 'not', of: any } : any
  }
  if (typeof test === 'string') return unknown(test)
  const found: Condition =
    name === ':method' && 'exact' in test
      ? { kind: 'method', method: test.exact }
      : { kind: 'header', header: { name, value: test } }
  const treatsMissing = memberAt(matcher, 'treat_missing_header_as_empty')?.isTrue === true
  const fitsMissing = treatsMissing && fitsEmpty(test) !== isInverted
  if (isInverted)
    return fitsMissing ? { kind: 'not', of: found } : { kind: 'all', of: [any, { kind: 'not', of: found }] }
  return fitsMissing ? { kind: 'any', of: [found, { kind: 'not', of: any }] } : found
}

const PSEUDO = new Set([':method', ':authority', ':path', ':scheme', 'host'])

function fitsEmpty(test: TextTest): boolean {
  if ('exact' in test) return test.exact === ''
  return /^(\(\?i\))?(\.\*)*$/.test(test.regex)
}

/** Returns the comparison of a HeaderMatcher; null for a matcher that only requires the header to be present. */
function testOf(matcher: Field): TextTest | string | null {
  const nested = memberAt(matcher, 'string_match')
  if (nested !== null) return readStringMatcher(nested)
  const exact = memberAt(matcher, 'exact_match')?.text
  if (exact != null) return { exact }
  const regex = memberAt(matcher, 'safe_regex_match', 'regex')?.text
  if (regex != null) return regexTest(regex)
  for (const [name, start, end] of OLD_PARTS) {
    const text = memberAt(matcher, name)?.text
    if (text != null) return { regex: start + escapeRegex(text) + end }
  }
  return memberAt(matcher, 'range_match') === null ? null : 'the gateway cannot compare ranges of numbers'
}

const OLD_PARTS = [
  ['prefix_match', '', '.*'],
  ['suffix_match', '.*', ''],
  ['contains_match', '.*', '.*'],
] as const

export function readQueryMatcher(matcher: Field): Condition {
  const name = memberAt(matcher, 'name')?.text ?? ''
  if (name === '' || name.length > 256) return unknown('the parameter has no valid name')
  const nested = memberAt(matcher, 'string_match')
  const test = nested === null ? { regex: '.*' } : readStringMatcher(nested)
  if (typeof test === 'string') return unknown(test)
  const found: Condition = { kind: 'query', query: { name, value: test } }
  return memberAt(matcher, 'present_match')?.text === 'false' ? { kind: 'not', of: found } : found
}

function unknown(why: string): Condition {
  return { kind: 'unknown', why }
}
