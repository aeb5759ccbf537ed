import { frontendPolicies, trafficPolicies } from '@portico/gateway/schema'
import { isWrittenShadow } from './closed-forms.ts'
import type { Context } from '../context.ts'
import { policyPlan, type PolicyPlan } from './policy-plan.ts'
import { namedTargets } from './policy-targets.ts'
import { compare } from '../precedence.ts'

/** Conflicts between policies that set the same field for the same target. */

interface PolicyField {
  /** The field, such as `traffic.cors`, or `traffic.PreRouting.cors` before routing. */
  id: string
  isJoined: boolean
}

const JOINED = new Set(
  [...trafficPolicies, ...frontendPolicies]
    .filter(({ merge }) => merge === 'join')
    .map(({ section, name }) => `${section}.${name}`),
)

export function fieldsOf({ frontend, traffic, backend, phase }: PolicyPlan): PolicyField[] {
  const named = (section: string, fields: object | null): PolicyField[] =>
    (Object.entries(fields ?? {}) as [string, unknown][]).map(([name, config]) => ({
      // A shadow policy does not conflict with an enforced policy of the same name.
      id: `${section === 'traffic' && phase === 'PreRouting' ? 'traffic.PreRouting' : section}.${name}${isWrittenShadow(name, config) ? ' (Shadow)' : ''}`,
      // MCP rules are joined; MCP authentication is not.
      isJoined: JOINED.has(`${section}.${name}`) || (name === 'mcp' && backend?.mcp?.authentication === undefined),
    }))
  return [...named('frontend', frontend), ...named('traffic', traffic), ...named('backend', backend)]
}

/** Fields that an older policy sets for the same target; `isWhole` when that holds for every target. */
export function conflicts(
  context: Context,
  place: string,
  plan: PolicyPlan,
): { field: string; winner: string; isWhole: boolean }[] {
  const fields = fieldsOf(plan).filter(({ isJoined }) => !isJoined)
  const targets = targetIds(context, plan)
  if (fields.length === 0 || targets.length === 0) return []
  const older = context.keys('GwPolicy', { by: 'namespace', value: plan.namespace }).flatMap((other) => {
    const found = other === place ? null : context.read(policyPlan, other)
    if (found === null || found.age >= plan.age) return []
    return [
      {
        other,
        age: found.age,
        fields: new Set(fieldsOf(found).map(({ id }) => id)),
        targets: new Set(targetIds(context, found)),
      },
    ]
  })
  const first = older.toSorted((one, other) => compare(one.age, other.age))
  return fields.flatMap(({ id }) => {
    const winners = targets.map((target) => first.find((each) => each.fields.has(id) && each.targets.has(target)))
    const [winner] = winners.filter((each) => each !== undefined)
    return winner === undefined
      ? []
      : [{ field: id, winner: winner.other, isWhole: winners.every((each) => each !== undefined) }]
  })
}

function targetIds(context: Context, plan: PolicyPlan): string[] {
  const named = plan.targets.flatMap((target) => namedTargets(context, plan, target))
  return named.map(({ kind, key, sectionName = '' }) => `${kind}/${key}/${sectionName}`)
}
