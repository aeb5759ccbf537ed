import type { Field } from '../../core/yaml-field.ts'
import { escapeRegex, isRegex } from '../../http/paths.ts'
import { memberAt } from './message.ts'

/** A comparison with a whole text: equal to a text, or fits a pattern. */
export type TextTest = { readonly exact: string } | { readonly regex: string }

/** Reads a StringMatcher as an exact text or a pattern; returns the reason as a string when it cannot be expressed. */
export function readStringMatcher(matcher: Field | null): TextTest | string {
  const isCaseless = memberAt(matcher, 'ignore_case')?.isTrue === true
  const exact = memberAt(matcher, 'exact')?.text
  if (exact != null) {
    if (!isCaseless) return textTest({ exact })
    return textTest({ regex: `(?i)${escapeRegex(exact)}` })
  }
  const flags = isCaseless ? '(?i)' : ''
  for (const [name, start, end] of PARTS) {
    const text = memberAt(matcher, name)?.text
    if (text != null) return textTest({ regex: flags + start + escapeRegex(text) + end })
  }
  const regex = memberAt(matcher, 'safe_regex', 'regex')?.text
  return regex == null ? 'the kind of comparison has no counterpart' : regexTest(regex)
}

const PARTS = [
  ['prefix', '', '.*'],
  ['suffix', '.*', ''],
  ['contains', '.*', '.*'],
] as const

/** Returns a comparison for a pattern that must fit the whole text. */
export function regexTest(regex: string): TextTest | string {
  return textTest({ regex: regex.replace(/^\^/, '').replace(/(?<!\\)\$$/, '') })
}

function textTest(test: TextTest): TextTest | string {
  if ('exact' in test) {
    return /[^\x20-\x7e]/.test(test.exact) || test.exact.length > 4_096
      ? 'the text is too long or contains unsupported characters'
      : test
  }
  return isRegex(test.regex) ? test : 'the pattern is not valid RE2 syntax, or is too long'
}

/** Returns a comparison as a CEL expression; `text` is the expression that is compared. */
export function expressionOfTest(test: TextTest, text: string): string {
  if ('exact' in test) return `${text} == ${JSON.stringify(test.exact)}`
  const [, flags = '', source = ''] = /^(\(\?i\))?([^]*)$/.exec(test.regex) ?? []
  return `${text}.matches(${JSON.stringify(`${flags}^(?:${source})$`)})`
}
