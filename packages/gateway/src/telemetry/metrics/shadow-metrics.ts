import type { ShadowVerdict } from '../../records/shadow-outcome.ts'
import { increase, type Registry } from './metrics.ts'

/** Counts one outcome; `route` is the name of the route, `unknown` for a request that found none. */
export type CountShadow = (policy: string, route: string, outcome: ShadowVerdict) => void

/** Labels are names of policies and routes of the config, and the four outcomes, so their number is bounded. */
export function createShadowMetrics(registry: Registry): CountShadow {
  return (policy, route, outcome) => {
    increase(registry.values, registry.slot('shadow_total', [policy, route, outcome]), 1)
  }
}
