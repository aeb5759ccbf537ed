import type { SharedCounters } from '@portico/http/client'
import type { BindState } from '@portico/http/server'
import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import { ConnectionCount, type WorkerIndex } from '../../../state/connection-count.ts'
import type { WorkerCache } from '../../../state/worker-cache.ts'

interface CountServices {
  counters: SharedCounters
  monotonic: () => number
  kept: WorkerCache
  seat: WorkerIndex
}

type Cap = NonNullable<BindState<string>['cap']>

/**
 * The limit of a bind on connections or sessions; `policy` is the config that a fault is reported for. The count
 * outlives reloads, so open connections count under the new limit too.
 */
export function connectionCap(bind: string, policy: object | undefined, limit: number, services: CountServices): Cap
export function connectionCap(
  bind: string,
  policy: object | undefined,
  limit: number | undefined,
  services: CountServices,
): Cap | null
export function connectionCap(
  bind: string,
  policy: object | undefined,
  limit: number | undefined,
  services: CountServices,
): Cap | null {
  if (limit === undefined) return null
  const count = services.kept.shared(`connections of ${bind}`, () => {
    const made = ConnectionCount.create(bind, services.seat, services)
    if (made === null) {
      const found = `found no free slot in shared memory to count the connections of ${bind}`
      throw new ConfigFault(policy ?? null, [], { found, expected: 'fewer limits and backends' })
    }
    return made
  })
  return { limit, count }
}
