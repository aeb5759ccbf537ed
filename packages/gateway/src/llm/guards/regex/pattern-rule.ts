import { compileRegex, type Regex, type Span } from '@portico/regex'
import type { Rule } from './rule.ts'

/** A pattern of the config; the trace names the pattern by its index. */
export function patternRule(pattern: string, index: number): Rule {
  const regex = compileRegex(pattern)
  // Validation rejects an invalid pattern before a guard is created.
  if (!regex.ok) throw new Error(regex.message)
  const { longest, canStartWith, canContain } = regex.reach ?? UNKNOWN
  return {
    kind: `matches[${index}]`,
    mask: '<masked>',
    longest,
    canStartWith,
    canContain,
    matches: (text, from) => findMatches(regex, text, from),
  }
}

/**
 * Limits the search for the position of a match, which costs far more than the test for a match, to seconds for any
 * pattern.
 */
const MAX_STEPS = 300_000_000

/** The pattern would take too long for this text. */
export class TooCostly extends Error {}

const UNKNOWN = { longest: Infinity, canStartWith: () => true, canContain: () => true }

function* findMatches(regex: Regex, text: string, from: number): Generator<Span> {
  // One character more keeps boundaries right; an anchor that fits there only makes it look closer.
  if (!regex.search(from > 1 ? text.slice(from - 1) : text)) return
  if (regex.size * (text.length - from) > MAX_STEPS) throw new TooCostly('the text is too long for the pattern')
  for (const span of regex.matches(text, from)) {
    // Zero-width matches are ignored.
    if (span.end > span.start) yield span
  }
}
