import type { ShadowVerdict } from '../../records/shadow-outcome.ts'
import { increase, type Registry } from './metrics.ts'

/** Counts one outcome of a shadow policy. `route` is the name of the route, or `unknown` for a request without a route. */
export type CountShadow = (policy: string, route: string, outcome: ShadowVerdict) => void

/**
 * Creates the counter of shadow outcomes. Its labels are policies and routes of the config and the four outcomes, so
 * the number of series is bounded.
 */
export function createShadowMetrics(registry: Registry): CountShadow {
  const slots = new Map<string, Map<string, Partial<Record<ShadowVerdict, number>>>>()
  return (policy, route, outcome) => {
    let routes = slots.get(policy)
    if (routes === undefined) slots.set(policy, (routes = new Map()))
    let outcomes = routes.get(route)
    if (outcomes === undefined) routes.set(route, (outcomes = {}))
    const slot = (outcomes[outcome] ??= registry.slot('shadow_total', [policy, route, outcome]))
    increase(registry.values, slot, 1)
  }
}
