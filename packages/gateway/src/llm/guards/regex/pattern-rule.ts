import { compileRegex, type Regex, type Span } from '@portico/regex'
import type { Rule } from './rule.ts'

/** A pattern of the config; its name in the trace is its place there. */
export function patternRule(pattern: string, index: number): Rule {
  const regex = compileRegex(pattern)
  // Validation refuses such a pattern long before a guard is made.
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

/** Where a match lies costs far more than whether there is one; this bounds it to seconds, whatever pattern it is. */
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
