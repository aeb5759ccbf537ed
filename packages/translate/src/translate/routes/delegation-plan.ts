import type { TrafficPolicies } from '@portico/gateway/schema'
import type { Fields } from '../../resources/fields.ts'
import { readBackendRef } from '../../resources/references.ts'
import type { Context } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { isRouteReference, linkProblem } from '../attachment/delegation-links.ts'

/** The HTTPRoutes that a rule delegates to, by `namespace/name`. */
export interface DelegationPlan {
  children: string[]
  refused: { child: string; problem: Unusable }[]
  /** Why the rule cannot delegate at all. */
  refusal: Unusable | null
}

/** Reads the references of a rule that delegates; null when none of them is to an HTTPRoute. */
export function planDelegation(
  context: Context,
  owner: { namespace: string; name: string; rule: string },
  references: readonly Fields[],
): DelegationPlan | null {
  if (!references.some(isRouteReference)) return null
  const plan: DelegationPlan = { children: [], refused: [], refusal: null }
  const refuse = (message: string): void => {
    plan.refusal ??= { reason: 'UnsupportedValue', message }
  }
  for (const fields of references) {
    const to = isRouteReference(fields) ? readBackendRef(fields, owner.namespace) : undefined
    if (to === undefined) {
      refuse('A rule that delegates to HTTPRoutes cannot have other backends')
      continue
    }
    const child = `${to.namespace}/${to.name}`
    if (to.weight !== 1 || to.port !== undefined || fields.objects('filters').length > 0) {
      refuse(`The reference to HTTPRoute ${child} cannot have a weight, a port or filters`)
    }
    fields.done()
    if (plan.children.includes(child) || plan.refused.some((each) => each.child === child)) continue
    const problem = linkProblem(context, owner, to)
    if (problem === null) plan.children.push(child)
    else plan.refused.push({ child, problem })
  }
  return plan
}

/** Why the filters of a rule cannot hold for other routes: the paths of these are not known to the rule. */
export function delegatedFilterProblem(traffic: TrafficPolicies | null): Unusable | null {
  const name =
    traffic?.urlRewrite?.path !== undefined
      ? 'URLRewrite of the path'
      : traffic?.requestRedirect !== undefined
        ? 'RequestRedirect'
        : null
  if (name === null) return null
  return { reason: 'IncompatibleFilters', message: `A rule that delegates cannot have ${name}; the HTTPRoutes can` }
}
