import { families } from './families.ts'
import { increase, observe, type Registry } from './metrics.ts'

/** Counts connections to backends, apart for each kind of transport. */
export function createPoolMetrics(registry: Registry): (transport: string) => PoolMetrics {
  const made = new Map<string, PoolMetrics>()
  return (transport) => {
    let metrics = made.get(transport)
    if (metrics === undefined) made.set(transport, (metrics = createOne(registry, transport)))
    return metrics
  }
}

interface PoolMetrics {
  opened: (durationMs: number) => void
  closed: () => void
  connectFailed: () => void
  fellSilent: () => void
}

function createOne(registry: Registry, transport: string): PoolMetrics {
  const { values } = registry
  const active = registry.slot('upstream_connections_active', [transport])
  const durations = registry.slot('upstream_connect_duration_seconds', [transport])
  const failures = registry.slot('upstream_connect_failures_total', [transport])
  const silent = registry.slot('upstream_connections_silent_total', [transport])
  return {
    opened(durationMs) {
      increase(values, active, 1)
      observe(values, durations, families.upstream_connect_duration_seconds.buckets, durationMs / 1000)
    },
    closed() {
      increase(values, active, -1)
    },
    connectFailed() {
      increase(values, failures, 1)
    },
    fellSilent() {
      increase(values, silent, 1)
    },
  }
}

/** Counts addresses that are left out for a while, by the name of their backend. */
export function evictionCounter(registry: Registry): (backend: string) => void {
  return (backend) => registry.counter('upstream_evictions_total', [backend]).inc()
}
