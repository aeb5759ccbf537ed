import type { Guard, TextInfo, TextMasker, Verdict } from '../guard.ts'
import { PASS } from '../guard.ts'
import { textOf } from '../passage.ts'
import { type CustomResponseConfig, rejection } from '../rejection.ts'
import { builtins } from './builtins/index.ts'
import { JsonMasker } from './json-masker.ts'
import { patternRule, TooCostly } from './pattern-rule.ts'
import type { Rule } from './rule.ts'
import type { RegexGuardConfig } from './schema.ts'
import { PlainMasker } from './text-masker.ts'
import { WholeText } from './window.ts'

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
    const end = masker.end()
    return start === null || end === null ? null : textOf(start) + textOf(end)
  } catch (error) {
    if (error instanceof TooCostly) return null
    throw error
  }
}
