import { isCelError, type Result } from '@portico/cel'

export type RuleMode = 'allow' | 'deny' | 'require'

/** A rule of the config. */
export interface RuleConfig {
  mode: RuleMode
  expression: string
}

/** The two forms of a set of rules: a list, or one action for several expressions. */
export interface AuthorizationConfig {
  rules?: readonly RuleConfig[] | undefined
  action?: 'Allow' | 'Deny' | 'Require' | undefined
  policy?: { matchExpressions: readonly string[] } | undefined
}

/** Returns the rules of several sets, in order. */
export function rulesOf(configs: readonly AuthorizationConfig[]): RuleConfig[] {
  return configs.flatMap(({ rules, action = 'Allow', policy }) => [
    ...(rules ?? []),
    ...(policy?.matchExpressions ?? []).map((expression) => ({ mode: modes[action], expression })),
  ])
}

const modes = { Allow: 'allow', Deny: 'deny', Require: 'require' } as const

export interface Rule<Subject> {
  mode: RuleMode
  source: string
  evaluate: (subject: Subject) => Result
}

/**
 * A subject is allowed if no deny rule matches, every require rule matches, and one allow rule matches (if there are any).
 * A deny rule whose evaluation fails denies.
 */
export function createJudge<Subject>(rules: readonly Rule<Subject>[]): Judge<Subject> {
  const [allow, deny, require] = (['allow', 'deny', 'require'] as const).map((mode) =>
    rules.filter((rule) => rule.mode === mode).map((rule) => rule.evaluate),
  ) as [Evaluate<Subject>[], Evaluate<Subject>[], Evaluate<Subject>[]]
  const denies = (subject: Subject): boolean => {
    for (const evaluate of deny) if (evaluate(subject) !== false) return true
    return false
  }
  return {
    denies,
    allows(subject) {
      if (denies(subject)) return false
      for (const evaluate of require) if (evaluate(subject) !== true) return false
      for (const evaluate of allow) if (evaluate(subject) === true) return true
      return allow.length === 0
    },
    explain: (subject) => rules.map((rule) => explainRule(rule, rule.evaluate(subject))),
  }
}

/** Returns the result of `Judge.allows` for these outcomes of all rules. */
export function allowedBy(outcomes: readonly RuleOutcome[]): boolean {
  const of = (mode: RuleMode): RuleOutcome[] => outcomes.filter((outcome) => outcome.mode === mode)
  if (deniedBy(outcomes) || of('require').some(({ matched }) => !matched)) return false
  const allow = of('allow')
  return allow.length === 0 || allow.some(({ matched }) => matched)
}

/** Returns the result of `Judge.denies` for these outcomes of all rules. */
export function deniedBy(outcomes: readonly RuleOutcome[]): boolean {
  return outcomes.some(({ mode, matched, error }) => mode === 'deny' && (matched || error !== undefined))
}

type Evaluate<Subject> = (subject: Subject) => Result

export interface Judge<Subject> {
  allows(subject: Subject): boolean
  /** Whether a deny rule matches, or its evaluation fails. */
  denies(subject: Subject): boolean
  /** Returns the outcome of every rule, for traces. */
  explain(subject: Subject): RuleOutcome[]
}

export interface RuleOutcome {
  name: string
  mode: RuleMode
  matched: boolean
  error?: string
}

function explainRule<Subject>({ mode, source }: Rule<Subject>, result: Result): RuleOutcome {
  const outcome = { name: source, mode, matched: result === true }
  if (isCelError(result)) return { ...outcome, error: result.message }
  return typeof result === 'boolean' ? outcome : { ...outcome, error: 'the result is neither true nor false' }
}
