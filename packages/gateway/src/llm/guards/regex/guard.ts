import { type Guard, type TextInfo, type TextMasker, type Verdict, PASS } from '../guard.ts'
import { joinPassages } from '../passage.ts'
import { type CustomResponseConfig, rejection } from '../rejection.ts'
import { builtins } from './builtins.ts'
import { JsonMasker } from './json-masker.ts'
import { type Rule, PlainMasker, WholeText } from './text-masker.ts'
import type { RegexGuardConfig } from './schema.ts'
import { compileRegex, type Regex, type Span } from '@portico/regex'

export function createRegexGuard(config: RegexGuardConfig, response: CustomResponseConfig): Guard {
  const rules: Rule[] = [
    ...new Set(config.builtins.map((name) => builtins[name])),
    ...config.matches.map((pattern, index) => patternRule(pattern, index)),
  ]
  return {
    name: 'regex',
    masksOnly: config.action === 'Mask',
    check(texts, phase, { about }) {
      const result = maskAll(rules, texts, about)
      if (result.kind !== 'mask' || phase === 'response' || config.action === 'Mask') return result
      return rejection(response, { found: result.found, reason: 'a pattern matched' })
    },
    createMasker: ({ form }) => (form === 'json' ? new JsonMasker(rules) : new PlainMasker(rules)),
  }
}

function maskAll(rules: readonly Rule[], texts: readonly string[], about: readonly TextInfo[]): Verdict {
  const found = new Set<string>()
  const masked: string[] = []
  for (const [index, text] of texts.entries()) {
    const masker = wholeMasker(rules, about[index]?.form ?? 'text')
    const whole = maskWhole(masker, text)
    if (whole === null) return { kind: 'failed', reason: 'a text is too long for the patterns' }
    for (const kind of masker.found) found.add(kind)
    masked.push(whole)
  }
  return found.size === 0 ? PASS : { kind: 'mask', texts: masked, found: [...found] }
}

function wholeMasker(rules: readonly Rule[], form: TextInfo['form']): TextMasker {
  const finder = new WholeText(rules)
  return form === 'json' ? new JsonMasker(rules, finder) : new PlainMasker(rules, finder)
}

function maskWhole(masker: TextMasker, text: string): string | null {
  try {
    const start = masker.push(text)
    return start === null ? null : joinPassages([...start, ...masker.end()])
  } catch (error) {
    if (error instanceof TooCostly) return null
    throw error
  }
}

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
class TooCostly extends Error {}

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
