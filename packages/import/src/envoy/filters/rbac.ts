import { denial } from '../../chain/effects.ts'
import type { Handler } from '../../chain/routes.ts'
import type { Field } from '../../core/yaml-field.ts'
import { enumOf, memberAt } from '../messages/message.ts'
import { type ConnectionFacts, permissionExpression, principalExpression } from './rbac-rules.ts'
import { joined, negated } from './expressions.ts'
import { type FilterReader, replaceable } from './filter.ts'

/** Reads the filter `rbac`. The rules of a route replace the rules of the filter. */
export const rbac: FilterReader = (config, { port, ignoresForwardedFor }) =>
  replaceable(config, 'rbac', (field) => {
    const isOfRoute = memberAt(field, 'rbac') !== null
    const found = denialOf(isOfRoute ? memberAt(field, 'rbac') : field, {
      ...{ port, ignoresForwardedFor },
    })
    if (found === null || typeof found === 'object') return [...(found ?? [])].map((each): Handler => denial(each))
    return found
  })

/**
 * Returns a list with an expression that is true for requests that the rules deny; null when there are no rules.
 * Returns the reason as a string when the rules cannot be expressed.
 */
function denialOf(config: Field | null, facts: ConnectionFacts): string[] | string | null {
  for (const name of ['shadow_rules', 'shadow_matcher', 'shadow_rules_stat_prefix'])
    memberAt(config, name)?.notCarried('configure mode: Shadow, in which a policy only reports: docs/shadow.md')
  for (const name of ['rules_stat_prefix', 'stat_prefix', 'track_per_rule_stats'])
    memberAt(config, name)?.notCarried("the gateway's metrics have fixed names: docs/logs-and-metrics.md")
  if (memberAt(config, 'matcher') !== null) return 'the matcher of the filter has no counterpart'
  const rules = memberAt(config, 'rules')
  if (rules === null) return null
  const action = memberAt(rules, 'action')
  const kind = enumOf(action, 'ALLOW')
  if (kind === 'LOG') {
    rules.notCarried('the rules only log, and restrict nothing')
    return null
  }
  action?.carried()
  const policies = memberAt(rules, 'policies')
  const parts: string[] = []
  for (const [name, policy] of policies?.members ?? []) {
    const found = policyExpression(policy, facts)
    if (found === null) return `the policy ${name.slice(0, 40)} cannot be expressed${reasonOf(policy, facts)}`
    policy.carried()
    parts.push(found)
  }
  policies?.carried()
  const expression = joined(parts, '||')
  const denied = kind === 'ALLOW' ? negated(expression) : expression
  return denied === 'false' ? null : [denied]
}

const CONDITIONS = ['condition', 'checked_condition', 'cel_config']

/**
 * Returns the reason why a policy cannot be expressed, as the end of a sentence; empty when the reason is not known.
 */
function reasonOf(policy: Field, { ignoresForwardedFor }: ConnectionFacts): string {
  if (CONDITIONS.some((name) => memberAt(policy, name) !== null)) {
    return ', because the condition is a parsed expression; write the rule in CEL'
  }
  const isForwarded = !ignoresForwardedFor && hasMember(policy, /^remote_?ip$/i)
  return isForwarded ? ', because remote_ip is the address in x-forwarded-for without use_remote_address' : ''
}

function hasMember(field: Field, name: RegExp): boolean {
  return (
    field.members.some(([key, value]) => name.test(key) || hasMember(value, name)) ||
    field.items.some((each) => hasMember(each, name))
  )
}

/** Returns an expression that is true when one permission and one principal of a policy apply to a request. */
function policyExpression(policy: Field, facts: ConnectionFacts): string | null {
  if (CONDITIONS.some((name) => memberAt(policy, name) !== null)) return null
  const sides = [
    (memberAt(policy, 'permissions')?.items ?? []).map((each) => permissionExpression(each, facts)),
    (memberAt(policy, 'principals')?.items ?? []).map((each) => principalExpression(each, facts)),
  ]
  const texts: string[] = []
  for (const side of sides) {
    const known = side.flatMap((each) => each ?? [])
    if (known.length < side.length) return null
    texts.push(joined(known, '||'))
  }
  return joined(texts, '&&')
}
