import { itemKinds } from '../../../expressions/item-rules.ts'
import type { ExpressionPhase } from '../../../expressions/variables.ts'
import { condition, oneLineComparisons, readCondition, unguardedReads } from '../expression.ts'
import { fileOnly, list, object, Refusal, scalar, type Schema } from '../../kit.ts'
import { exactlyOneOf, onlyWith } from '../../rules.ts'
import { enumeration } from '../values.ts'

/** One rule, in the same form for all spellings. */
interface AuthorizationRule {
  mode: 'allow' | 'deny' | 'require'
  expression: string
}

/** CEL rules. The file may list them; custom resources set one action for several expressions. */
export function authorization(phase: ExpressionPhase) {
  return object(
    {
      rules: fileOnly(
        list(
          rule(phase).describe('An expression that allows, or `{allow}`, `{deny}` or `{require}` with an expression.'),
          {
            min: 1,
            max: 256,
          },
        )
          .optional()
          .describe('Rules, each with its own mode.'),
      ),
      action: enumeration(['Allow', 'Deny', 'Require'])
        .optional()
        .describe('Effect of the expressions in `policy`; `Allow` when unset.'),
      policy: object({
        matchExpressions: list(matchExpression(phase).describe('A condition.'), { min: 1, max: 256 }).describe(
          'Conditions; each is a separate rule.',
        ),
      })
        .optional()
        .describe('Rules with the same action.'),
    },
    [exactlyOneOf('rules', 'policy'), onlyWith('action', 'policy')],
  )
}

function rule(phase: ExpressionPhase): Schema<AuthorizationRule> {
  const text = { type: 'string', minLength: 1, maxLength: 16_384 } as const
  return scalar(
    (input) => {
      const written = locateRule(input)
      if (written === null) return new Refusal('wrong_type')
      const source = readCondition(written.expression, phase)
      return source instanceof Refusal ? source : { mode: written.mode, expression: source }
    },
    {
      type: 'rule',
      expected: 'a CEL expression, or one under `allow`, `deny` or `require`',
      json: {
        oneOf: [
          text,
          ...MODES.map((mode) => ({
            type: 'object',
            properties: { [mode]: text },
            required: [mode],
            additionalProperties: false,
          })),
        ],
      },
      refers: {
        to: 'expression',
        doubts(input) {
          const written = locateRule(input)
          return written === null ? [] : ruleDoubts(written.expression, written.mode, phase)
        },
      },
    },
  )
}

/** An expression of a custom resource; the mode is in `action`, two levels above the list. */
function matchExpression(phase: ExpressionPhase): Schema<string> {
  return condition(phase, {
    to: 'expression',
    doubts(input, around) {
      const policy = around(3)
      const action = typeof policy === 'object' && policy !== null && 'action' in policy ? policy.action : 'Allow'
      const mode = MODES.find((candidate) => candidate === String(action).toLowerCase())
      return mode === undefined ? [] : ruleDoubts(input, mode, phase)
    },
  })
}

function ruleDoubts(expression: unknown, mode: AuthorizationRule['mode'], phase: ExpressionPhase): Doubt[] {
  const source = readCondition(expression, phase)
  if (source instanceof Refusal) return []
  const failing = mode === 'allow' ? [] : unguardedReads(source, phase)
  return [
    ...(mode === 'deny' ? denyDoubts(failing) : requireDoubts(source, failing)),
    ...headerDoubts(source, mode, phase),
  ]
}

/**
 * Warns of comparisons with one header value: a header that is sent twice is a list, which equals no text, so the rule
 * does not match.
 */
function headerDoubts(source: string, mode: AuthorizationRule['mode'], phase: ExpressionPhase): Doubt[] {
  return oneLineComparisons(source, phase, mode === 'deny').map(({ header, place }) => {
    const [, headers = 'request.headers', name = 'name'] = /^(\w+\.headers)\.(.+)$/.exec(header) ?? []
    return {
      found: `found ${mode === 'allow' ? 'an' : 'a'} ${mode} rule that \`${header}\` bypasses when sent twice: the rule compares one value at ${place}`,
      expected: `a comparison with all its values: \`"..." in default(${headers}.split()["${name}"], [])\``,
    }
  })
}

function denyDoubts(failing: readonly string[]): Doubt[] {
  // Rules about tools are skipped for prompts, so their failures there are expected.
  return failing
    .filter((found) => itemReadIn(found) === undefined)
    .map((found) => ({
      found: `found a deny rule that may fail: ${found}`,
      expected: '`has(...)` or `default(...)` around it; a deny rule that fails denies',
    }))
}

/** Warns of a `require` rule that can hold for one kind of item only. */
function requireDoubts(source: string, failing: readonly string[]): Doubt[] {
  return failing.flatMap((found) => {
    const kind = itemReadIn(found)
    if (kind === undefined || source.includes(`has(mcp.${kind}`)) return []
    return {
      found: `found a require rule that denies everything but ${kind}s: ${found}`,
      expected: `\`!has(mcp.${kind}) || ...\`, or an \`allow\` rule`,
    }
  })
}

function itemReadIn(found: string): string | undefined {
  return itemKinds.find((kind) => found.startsWith(`\`mcp.${kind}`))
}

interface Doubt {
  found: string
  expected: string
}

const MODES = ['allow', 'deny', 'require'] as const

function locateRule(input: unknown): { mode: AuthorizationRule['mode']; expression: unknown } | null {
  if (typeof input !== 'object') return { mode: 'allow', expression: input }
  if (input === null) return null
  const [[key, value] = ['', null], ...more] = Object.entries(input)
  const mode = MODES.find((candidate) => candidate === key)
  return mode === undefined || more.length > 0 ? null : { mode, expression: value }
}
