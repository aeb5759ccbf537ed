import type { ExpressionPhase } from '../../core/import-result.ts'
import { type Convert, list, lost, scalar } from './convert.ts'

/**
 * Patterns of expressions that Portico cannot evaluate. The type check does not find them, because the variables have
 * free members.
 */
const UNAVAILABLE: readonly (readonly [RegExp, string])[] = [
  [
    /\bapiKey\s*(?:\.\s*\??key\b|\[\s*["']key["'])/,
    'Portico has no apiKey.key; rules can read apiKey.name and metadata',
  ],
  [/\bjwt\s*(?:\.\s*\??rawToken\b|\[\s*["']rawToken["'])/, 'Portico has no jwt.rawToken'],
  [/\bvariables\s*\(/, 'Portico has no variables()'],
  [/\bsource\s*\.\s*certificate\b(?!\s*\.)/, 'source.certificate is an object in Portico, not the PEM text'],
  [/\bllm\s*\.\s*cost\b(?!\s*\.)/, 'llm.cost is a number in Portico'],
]

/** Converts a CEL expression, and checks that Portico has its variables and functions in this phase. */
export function expression(phase: ExpressionPhase): Convert {
  return (field, scope) => {
    const { text } = field
    const found = UNAVAILABLE.find(([pattern]) => pattern.test(text ?? ''))
    if (found !== undefined) return lost(field, found[1])
    if (typeof field.scalar !== 'string') return lost(field, 'expected an expression')
    const value = scalar(field, scope)
    const why = scope.checks.expression(scope.env.sampleOf(value), phase)
    return why === null ? value : lost(field, why)
  }
}

/** Converts an expression of a policy that runs before the backend is called. */
export const requestExpression = expression('request')

/** Returns the CEL expression of a literal text. */
export function literalExpression(text: string): string {
  return `"${text.replaceAll(/["\\]/g, (found) => `\\${found}`).replaceAll('\n', String.raw`\n`)}"`
}

/** Returns the text of an expression that is a string literal; null for other expressions. */
export function literalOf(expression: string): string | null {
  const [, double, single] = /^\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*$/.exec(expression) ?? []
  return double ?? single ?? null
}

/** Converts a policy that may be a list of cases with conditions. The first case whose condition is true applies. */
export function conditional(policy: Convert): Convert {
  return (field, scope) => {
    const cases = field.get('conditional')
    if (cases === null) return policy(field, scope)
    return {
      conditional: list((each) => {
        const condition = each.get('condition')
        const found = condition === null ? {} : { condition: requestExpression(condition, scope) }
        return { ...found, policy: policy(each, scope) }
      })(cases, scope),
    }
  }
}
