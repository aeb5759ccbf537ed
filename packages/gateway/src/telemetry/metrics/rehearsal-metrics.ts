import { increase, type Registry } from './metrics.ts'

type RehearsalKind = 'delay' | 'abort'

/** Returns the counter of one rehearsal; `policy` is the key of the attachment that has the policy. */
export type CountRehearsals = (policy: string, kind: RehearsalKind) => () => void

/** Counts requests that were delayed or aborted on purpose. */
export function createRehearsalMetrics(registry: Registry): CountRehearsals {
  const { values } = registry
  return (policy, kind) => {
    const slot = registry.slot('rehearsals_total', [policy, kind])
    return () => increase(values, slot, 1)
  }
}
