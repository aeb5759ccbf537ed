import { isCelError, reads, type Result } from '@portico/cel'
import { alternativesOf, itemKinds } from '../expressions/item-rules.ts'
import {
  allowedBy,
  deniedBy,
  type AuthorizationConfig,
  createJudge,
  type Rule,
  type RuleConfig,
  type RuleOutcome,
  rulesOf,
} from '../pipeline/policy/authorization.ts'
import { compileExpression } from '../pipeline/expression/expression.ts'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import type { Env } from '../pipeline/context/step.ts'
import { McpRecord, type McpItem, type McpItemKind } from '../records/mcp-record.ts'
import { uriForms } from './uri-forms.ts'

/** Decides which tools, prompts, resources and tasks of one target a caller may see and use. */
export interface McpJudge {
  /** False when the target has no rules: every item is then allowed. */
  readonly hasRules: boolean
  /**
   * Whether the rules allow an item, under the name that its server lists. A deny rule that matches another form of a
   * resource's URI denies the item too. Rules read `rx.mcp.method` as `mcp.methodName`.
   */
  allows(rx: RequestContext, item: McpItem): boolean
  /**
   * Whether the server may normalize the name to one that the rules were not evaluated for. Such an item is allowed only
   * when the server lists exactly this name.
   */
  isAmbiguous(rx: RequestContext, item: McpItem): boolean
  /**
   * Evaluates the rules for an item that a request names. Every rule is evaluated equally often whatever the outcome:
   * response times must not tell a hidden item from an unknown one.
   */
  decide(rx: RequestContext, item: McpItem): McpVerdict
}

export interface McpVerdict {
  /** The result of `allows`. */
  isAllowed: boolean
  /** The result of `isAmbiguous`. */
  isAmbiguous: boolean
  /** The outcome of every rule: for the name itself, or for its denied form when only that form is denied. */
  rules: RuleOutcome[]
}

/** Creates the judge of a target. `configs` are the configs of every policy attachment that applies to the target. */
export function createMcpJudge(configs: readonly AuthorizationConfig[], env: Pick<Env, 'cel'>): McpJudge {
  const rules = rulesOf(configs)
  const judge = createJudge<RuleSubject>(rules.map((rule) => compileRule(rule, env)))
  const hasRules = rules.length > 0
  const isAllowed = (rx: RequestContext, item: McpItem): boolean =>
    evaluateFor(rx, item, (subject) => judge.allows(subject))
  const deniedForm = (rx: RequestContext, item: McpItem): McpItem | undefined =>
    otherForms(item, 'equivalents').find((form) => evaluateFor(rx, form, (subject) => judge.denies(subject)))
  return {
    hasRules,
    allows: (rx, item) => !hasRules || (isAllowed(rx, item) && deniedForm(rx, item) === undefined),
    isAmbiguous(rx, item) {
      if (!hasRules) return false
      return !isCanonicalName(item) || otherForms(item, 'decoded').some((form) => !isAllowed(rx, form))
    },
    decide(rx, item) {
      if (!hasRules) return UNJUDGED
      const outcomesOf = (name: McpItem): RuleOutcome[] => evaluateFor(rx, name, (subject) => judge.explain(subject))
      const own = outcomesOf(item)
      const forms = otherForms(item, 'equivalents').map(outcomesOf)
      const decoded = otherForms(item, 'decoded').map(outcomesOf)
      const isOwnAllowed = allowedBy(own)
      const denied = forms.find((rules) => deniedBy(rules))
      return {
        isAllowed: isOwnAllowed && denied === undefined,
        isAmbiguous: !isCanonicalName(item) || decoded.some((rules) => !allowedBy(rules)),
        rules: isOwnAllowed ? (denied ?? own) : own,
      }
    },
  }
}

const UNJUDGED: McpVerdict = { isAllowed: true, isAmbiguous: false, rules: [] }

function otherForms(item: McpItem, forms: 'decoded' | 'equivalents'): McpItem[] {
  if (item.kind !== 'resource') return []
  return uriForms(item.name)[forms].map((name) => ({ ...item, name }))
}

/** Whether servers cannot normalize the name to another one: by Unicode forms, outer blanks or invisible characters. */
function isCanonicalName({ kind, name }: McpItem): boolean {
  if (kind === 'resource') return uriForms(name).isCanonical
  return name === name.normalize('NFKC').trim() && !/\p{C}|\p{Default_Ignorable_Code_Point}/u.test(name)
}

interface RuleSubject {
  rx: RequestContext
  kind: McpItemKind
}

/** Evaluates rules for an item: expressions read the item from the MCP record of the request. */
function evaluateFor<T>(rx: RequestContext, item: McpItem, evaluate: (subject: RuleSubject) => T): T {
  const record = (rx.mcp ??= new McpRecord())
  record.judged = item
  try {
    return evaluate({ rx, kind: item.kind })
  } finally {
    record.judged = null
  }
}

function compileRule({ mode, expression }: RuleConfig, env: Pick<Env, 'cel'>): Rule<RuleSubject> {
  if (mode === 'deny') return { mode, source: expression, evaluate: denyRule(expression, env) }
  const compiled = env.cel(expression, 'mcp')
  return { mode, source: expression, evaluate: ({ rx }) => compiled.evaluate(rx) }
}

/** Compiles a deny rule. An alternative that fails because it reads an item of another kind does not make the rule fail. */
function denyRule(source: string, env: Pick<Env, 'cel'>): (subject: RuleSubject) => Result {
  const alternatives = alternativesOf(source).map((text) => ({
    about: kindsReadBy(text),
    expression: env.cel(text, 'mcp'),
  }))
  return ({ rx, kind }) => {
    let outcome: Result = false
    for (const { about, expression } of alternatives) {
      const result = expression.evaluate(rx)
      // No early return: the evaluation time must not tell which alternative matched.
      if (result === false || outcome === true) continue
      const isAboutAnotherKind = isCelError(result) && about.length > 0 && !about.includes(kind)
      if (!isAboutAnotherKind) outcome = result
    }
    return outcome
  }
}

/** Returns the item kinds that an expression reads without a `has()` check: it cannot be evaluated for other kinds. */
function kindsReadBy(source: string): McpItemKind[] {
  const { references } = compileExpression(source, 'mcp')
  const checksFor = (kind: McpItemKind): boolean =>
    references.some(({ guarded, path }) => guarded && path.length === 2 && path[0] === 'mcp' && path[1] === kind)
  return itemKinds.filter((kind) => reads(references, ['mcp', kind]) && !checksFor(kind))
}
