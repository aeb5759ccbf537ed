import { increase, type Registry } from './metrics.ts'

/** A rate limit whose table of keys is full, and how requests with further keys are handled. */
interface FullLimit {
  /** Key of the attachment that has the limit. */
  policy: string
  limit: string
  outcome: 'refused' | 'passed'
}

export type CountKeysWithoutRoom = (limit: FullLimit) => () => void

/** Counts requests whose key found no room; the series is there as soon as the limit is. */
export function createLimitMetrics(registry: Registry): CountKeysWithoutRoom {
  const { values } = registry
  return ({ policy, limit, outcome }) => {
    const slot = registry.slot('rate_limit_keys_without_room_total', [policy, limit, outcome])
    return () => increase(values, slot, 1)
  }
}
