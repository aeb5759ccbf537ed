import { placeOfPool, poolKey } from '../backends/inference-pool.ts'
import type { Context, Query } from '../context.ts'
import { gatewayConfig } from '../gateways/gateway.ts'
import type { PolicyPlan } from '../policies/policy-plan.ts'
import { namedTargets } from '../policies/policy-targets.ts'

/** Keys of the pools that routes of a Gateway use directly, and not as a provider of an `ai` backend. */
const poolsOfRoutes: Query<string[]> = {
  name: 'poolsOfRoutes',
  compute(context, gateway) {
    const { routes = [] } = context.read(gatewayConfig, gateway) ?? {}
    const keys = routes.flatMap(({ backends }) => backends.map(({ backend }) => backend))
    return [...new Set(keys.filter((key) => placeOfPool(key) !== null))].toSorted()
  },
}

/** Returns what a policy for pools does not do: `ai` policies need the request of an `ai` backend. */
export function unheldAtPools(context: Context, gateway: string, plan: PolicyPlan): string[] {
  if (plan.backend?.ai === undefined) return []
  const targets = plan.targets.filter(({ kind }) => kind === 'InferencePool')
  const pools = targets.flatMap((target) => namedTargets(context, plan, target)).map(({ key }) => key)
  const direct = context.read(poolsOfRoutes, gateway)
  return [...new Set(pools)]
    .filter((place) => direct.includes(poolKey(place)))
    .map(
      (place) =>
        `spec.backend.ai: has no effect on requests that routes send to InferencePool ${place} directly; put the pool behind a provider of an \`ai\` backend`,
    )
}
