import type { AttachedPolicy } from '@portico/gateway/ir'
import type { TrafficPolicies } from '@portico/gateway/schema'
import { gwFilterSpec } from '../../resources/gw-filter.ts'
import { valueAt } from '../../resources/json.ts'
import { readSpec } from '../../resources/own-kinds.ts'
import { printProblems } from '../backends/backend.ts'
import type { Context, Query } from '../context.ts'
import { PolicyFields } from './policy-fields.ts'

/** The translation of a GwFilter, independent of the rules that refer to it. */
interface FilterPolicies {
  traffic: TrafficPolicies
  /** Problems of any field: the rules answer 500, because a filter must not be skipped. */
  problems: string[]
}

/** The plan of a GwFilter, by `namespace/name`; null when it does not exist. */
export const filterPlan: Query<FilterPolicies | null> = {
  name: 'filterPlan',
  compute(context, place) {
    const resource = context.get('GwFilter', place)
    if (resource === undefined) return null
    const read = readSpec(gwFilterSpec, resource)
    if (!read.ok) return { traffic: {}, problems: [printProblems(read.problems)] }
    const fields = new PolicyFields(context, 'GwFilter', resource)
    const traffic = fields.section('traffic', valueAt(resource.spec, 'traffic')) ?? {}
    return { traffic, problems: fields.problems }
  },
}

/** The policies of GwFilters for the rules of a Gateway. A GwFilter with problems closes its rules. */
export function attachFilters(
  context: Context,
  filters: readonly { filter: string; rule: string }[],
): AttachedPolicy[] {
  return filters.flatMap(({ filter, rule }) => {
    const plan = context.read(filterPlan, filter)
    if (plan === null) return []
    const isUsable = plan.problems.length === 0
    const policy: AttachedPolicy = {
      key: `filter/${filter}@rule/${rule}`,
      target: { kind: 'rule', key: rule },
      frontend: null,
      traffic: isUsable ? plan.traffic : null,
      phase: 'PostRouting',
      backend: null,
      ...(!isUsable && { unknown: `GwFilter ${filter} cannot be used: ${plan.problems.join('; ')}` }),
    }
    return [policy]
  })
}
