import { increase, type Registry } from './metrics.ts'

type RehearsalKind = 'delay' | 'abort'

/**
 * Returns the function that counts one more delay or abort of a rehearsal; `policy` is the key of the policy's
 * attachment.
 */
export type CountRehearsals = (policy: string, kind: RehearsalKind) => () => void

/** Creates the counter of requests that were delayed or aborted on purpose. */
export function createRehearsalMetrics(registry: Registry): CountRehearsals {
  const { values } = registry
  return (policy, kind) => {
    const slot = registry.slot('rehearsals_total', [policy, kind])
    return () => increase(values, slot, 1)
  }
}
