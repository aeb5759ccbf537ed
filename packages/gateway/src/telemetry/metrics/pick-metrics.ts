import { increase, type Registry } from './metrics.ts'

/**
 * The outcomes of a choice of an endpoint: the picker chose a member (`picked`) or answered itself (`answered`); or it failed
 * or chose no member, and the gateway balanced (`fallback`) or denied the request (`failed`).
 */
const pickOutcomes = ['picked', 'answered', 'fallback', 'failed'] as const
export type PickOutcome = (typeof pickOutcomes)[number]

/** Returns the counter of one inference pool, by the name of its backend. */
export type CountPicks = (backend: string) => (outcome: PickOutcome) => void

/** Counts choices of endpoints; all series of a pool exist as soon as the pool does. */
export function createPickMetrics(registry: Registry): CountPicks {
  const { values } = registry
  return (backend) => {
    const slots = new Map(
      pickOutcomes.map((outcome) => [outcome, registry.slot('inference_picks_total', [backend, outcome])]),
    )
    return (outcome) => {
      const slot = slots.get(outcome)
      if (slot !== undefined) increase(values, slot, 1)
    }
  }
}
