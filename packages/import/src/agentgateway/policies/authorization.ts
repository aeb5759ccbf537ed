import type { ExpressionPhase } from '../../core/import-result.ts'
import { type Convert, lost } from '../values/convert.ts'
import { expression } from '../values/expressions.ts'

const MODES = ['allow', 'deny', 'require']

/**
 * Reads authorization rules: a rule is an expression that allows requests, or `allow`, `deny` or `require` with an
 * expression.
 */
export function authorization(phase: ExpressionPhase): Convert {
  const condition = expression(phase)
  const ruleOf: Convert = (field, scope) => {
    if (!field.isMapping) return condition(field, scope)
    const [[mode, member] = ['', null], ...others] = field.members
    if (member === null || others.length > 0 || !MODES.includes(mode))
      return lost(field, 'expected allow, deny or require')
    const found = condition(member, scope)
    return found === undefined ? undefined : { [mode]: found }
  }
  return (field, scope) => {
    const rules = field.get('rules')
    if (rules === null || rules.items.length === 0) return lost(field, 'expected rules')
    return { rules: rules.items.flatMap((rule) => ruleOf(rule, scope) ?? []) }
  }
}
