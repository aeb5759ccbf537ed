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

/** Says which tools, prompts, resources and tasks of one target a caller may see and use. */
export interface McpJudge {
  /** Without rules everything is allowed, and nobody needs to ask. */
  readonly hasRules: boolean
  /**
   * Judges an item by the name that its server lists. A deny rule that holds for another form of a resource's URI denies
   * too. `rx.mcp.method` is what rules see as `mcp.methodName`.
   */
  allows(rx: RequestContext, item: McpItem): boolean
  /**
   * Whether the server may read the name as one that the rules have not judged: the item is allowed only when the server
   * lists it by exactly this name.
   */
  isAmbiguous(rx: RequestContext, item: McpItem): boolean
  /**
   * Judges an item that a request names. Every rule is evaluated equally often whatever the outcome: a caller must not
   * tell a hidden item from an unknown one by the time of the answer.
   */
  decide(rx: RequestContext, item: McpItem): McpVerdict
}

export interface McpVerdict {
  /** The answer of `allows`. */
  isAllowed: boolean
  /** The answer of `isAmbiguous`. */
  isAmbiguous: boolean
  /** Every rule with its outcome: for the form of the name that is denied, where the name itself is allowed. */
  rules: RuleOutcome[]
}

/** `configs` are those of every attachment that holds for the target: all of them count together. */
export function createMcpJudge(configs: readonly AuthorizationConfig[], env: Pick<Env, 'cel'>): McpJudge {
  const rules = rulesOf(configs)
  const judge = createJudge<Asked>(rules.map((rule) => compileRule(rule, env)))
  const hasRules = rules.length > 0
  const isAllowed = (rx: RequestContext, item: McpItem): boolean => asking(rx, item, (asked) => judge.allows(asked))
  const deniedForm = (rx: RequestContext, item: McpItem): McpItem | undefined =>
    otherForms(item, 'equivalents').find((form) => asking(rx, form, (asked) => judge.denies(asked)))
  return {
    hasRules,
    allows: (rx, item) => !hasRules || (isAllowed(rx, item) && deniedForm(rx, item) === undefined),
    isAmbiguous(rx, item) {
      if (!hasRules) return false
      return !isCanonicalName(item) || otherForms(item, 'decoded').some((form) => !isAllowed(rx, form))
    },
    decide(rx, item) {
      if (!hasRules) return UNJUDGED
      const outcomesOf = (name: McpItem): RuleOutcome[] => asking(rx, name, (asked) => judge.explain(asked))
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

/** Servers may normalize names as well as URIs: Unicode forms, blanks at the ends, characters that nobody sees. */
function isCanonicalName({ kind, name }: McpItem): boolean {
  if (kind === 'resource') return uriForms(name).isCanonical
  return name === name.normalize('NFKC').trim() && !/\p{C}|\p{Default_Ignorable_Code_Point}/u.test(name)
}

interface Asked {
  rx: RequestContext
  kind: McpItemKind
}

/** Rules read the item from the facts of the request. */
function asking<T>(rx: RequestContext, item: McpItem, ask: (asked: Asked) => T): T {
  const facts = (rx.mcp ??= new McpRecord())
  facts.judged = item
  try {
    return ask({ rx, kind: item.kind })
  } finally {
    facts.judged = null
  }
}

function compileRule({ mode, expression }: RuleConfig, env: Pick<Env, 'cel'>): Rule<Asked> {
  if (mode === 'deny') return { mode, source: expression, evaluate: denyRule(expression, env) }
  const compiled = env.cel(expression, 'mcp')
  return { mode, source: expression, evaluate: ({ rx }) => compiled.evaluate(rx) }
}

/** Fails only where one of its alternatives fails for another reason than that it is about something else. */
function denyRule(source: string, env: Pick<Env, 'cel'>): (asked: Asked) => Result {
  const alternatives = alternativesOf(source).map((text) => ({
    about: kindsReadBy(text),
    expression: env.cel(text, 'mcp'),
  }))
  return ({ rx, kind }) => {
    let outcome: Result = false
    for (const { about, expression } of alternatives) {
      const result = expression.evaluate(rx)
      // No early return: the time must not tell which alternative holds.
      if (result === false || outcome === true) continue
      const isElsewhere = isCelError(result) && about.length > 0 && !about.includes(kind)
      if (!isElsewhere) outcome = result
    }
    return outcome
  }
}

/** What it takes for granted: where it asks first whether there is a tool, it has something to say of others too. */
function kindsReadBy(source: string): McpItemKind[] {
  const { references } = compileExpression(source, 'mcp')
  const asksFor = (kind: McpItemKind): boolean =>
    references.some(({ guarded, path }) => guarded && path.length === 2 && path[0] === 'mcp' && path[1] === kind)
  return itemKinds.filter((kind) => reads(references, ['mcp', kind]) && !asksFor(kind))
}
