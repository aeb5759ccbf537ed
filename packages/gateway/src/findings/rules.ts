import type { ExpressionPhase } from '../expressions/variables.ts'
import type { AuthorizationConfig, RuleMode } from '../pipeline/policy/authorization.ts'
import type { ExplainedRule, Passing, SourceLocation } from './explanation.ts'
import { explainExpression, passingWays, valuesIn } from './expression-values.ts'
import { type ConfigLookup, type Findings, type Subject, remedy } from './subject.ts'
import { cut } from './words.ts'

/** A rule in a record. */
interface JudgedRule {
  name: string
  mode: RuleMode
  matched: boolean
  error?: string
}

/** The location of each rule, in the order in which rules are evaluated. */
export function placesOf(view: ConfigLookup, configs: readonly object[]): (SourceLocation | null)[] {
  return configs.flatMap((config) => {
    const { rules, policy } = config as AuthorizationConfig
    return [
      ...(rules ?? []).map(({ mode }, index) => view.locate(config, ['rules', index, mode])),
      ...(policy?.matchExpressions ?? []).map((_, index) => view.locate(config, ['policy', 'matchExpressions', index])),
    ]
  })
}

/** Finds the rules that counted against the request, and the changes that would have passed. */
export function explainRules(
  { record, reason, isBrief }: Subject,
  phase: ExpressionPhase,
  places: readonly (SourceLocation | null)[],
  who: string,
): Findings {
  const judged = judgedRules(reason.values['rules'])
  const isAllowed = judged.some(({ mode, matched }) => mode === 'allow' && matched)
  const rules = judged.map((rule, index): ExplainedRule => ({
    index,
    mode: rule.mode,
    expression: rule.name,
    matched: rule.matched,
    place: places[index] ?? null,
    isAgainst: rule.mode === 'allow' ? !isAllowed : isAgainst(rule),
    value: isBrief ? null : explainExpression(rule.name, phase, record),
  }))
  // Deny rules count first, then require rules, then allow rules, of which one must match.
  const against = ORDER.flatMap((mode) => rules.filter((rule) => rule.mode === mode && rule.isAgainst))
  const [first] = against
  const read = against.flatMap(({ value }) => (value === null ? [] : valuesIn(value)))
  return {
    code: first === undefined ? reason.code : CODES[first.mode],
    headline: headlineOf(who, first, judged),
    place: first?.place ?? null,
    rules,
    values: [...new Map(read.map((each) => [each.name, each])).values()],
    wouldPass: isBrief ? [] : waysPast(against, { phase, record }),
    remarks: disagreements(rules),
  }
}

const ORDER: readonly RuleMode[] = ['deny', 'require', 'allow']
const CODES: Readonly<Record<RuleMode, string>> = {
  deny: 'deny_rule_true',
  require: 'require_rule_false',
  allow: 'no_allow_rule_true',
}

function isAgainst({ mode, matched, error }: JudgedRule): boolean {
  return mode === 'deny' ? matched || error !== undefined : !matched
}

function headlineOf(who: string, first: ExplainedRule | undefined, judged: readonly JudgedRule[]): string {
  if (first === undefined) return `${who} denied the request`
  const expression = `\`${cut(first.expression, 120)}\``
  const { error } = judged[first.index] ?? {}
  switch (first.mode) {
    case 'deny':
      return error === undefined
        ? `${who} denied the request: the deny rule ${expression} is true`
        : `${who} denied the request: the deny rule ${expression} failed, and a deny rule that fails denies`
    case 'require':
      return `${who} denied the request: the required ${expression} ${error === undefined ? 'is false' : 'could not be evaluated'}`
    case 'allow': {
      const count = judged.filter(({ mode }) => mode === 'allow').length
      return count === 1
        ? `${who} denied the request: the only allow rule ${expression} is not true`
        : `${who} denied the request: none of ${count} allow rules is true`
    }
  }
}

/**
 * The changes that would pass: all deny and require rules against the request must change, and one of the allow rules.
 */
function waysPast(
  against: readonly ExplainedRule[],
  { phase, record }: { phase: ExpressionPhase; record: Subject['record'] },
): Passing[] {
  const ways = (rule: ExplainedRule): Passing[] =>
    passingWays(rule.mode !== 'deny', rule.expression, { phase, record, place: rule.place })
  const strict = against.filter(({ mode }) => mode !== 'allow').map(ways)
  const allow = against.filter(({ mode }) => mode === 'allow').flatMap(ways)
  const all = [...strict, ...(allow.length > 0 ? [allow] : [])]
  const combined = all.reduce<Passing[]>(
    (before, next) => before.flatMap((one) => next.map((other) => both(one, other))).slice(0, MOST),
    [{ text: '', changes: [] }],
  )
  const found = combined
    .filter(({ changes }) => changes.length > 0)
    .toSorted(byChanges)
    .slice(0, MOST)
  const rule = against.find(({ place }) => place !== null)
  const config =
    against.length === 1 && rule !== undefined ? [remedy('config', 'the rule is changed', { place: rule.place })] : []
  return [...found, ...config]
}

const MOST = 5

function byChanges(one: Passing, other: Passing): number {
  return one.changes.length - other.changes.length
}

function both(one: Passing, other: Passing): Passing {
  if (one.changes.length === 0) return other
  return { text: `${one.text.replace(/\.$/, '')}, and ${other.text}`, changes: [...one.changes, ...other.changes] }
}

/** Reports rules whose value differs from the recorded result, because a record may lack values that the rule read. */
function disagreements(rules: readonly ExplainedRule[]): string[] {
  const unsure = rules.filter(({ value, matched }) => value?.state === 'found' && (value.value === true) !== matched)
  return unsure.map(({ index }) => `rule ${index} evaluates differently now: not all values that it read were recorded`)
}

function judgedRules(found: unknown): JudgedRule[] {
  return Array.isArray(found) ? (found as JudgedRule[]) : []
}
