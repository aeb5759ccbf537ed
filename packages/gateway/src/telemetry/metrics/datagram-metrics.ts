import type { LabelValues } from './families.ts'
import { increase, type Registry } from './metrics.ts'

/** Counts the sessions and datagrams of one UDP port. */
interface DatagramMetrics {
  opened: () => void
  closed: () => void
  received: (bytes: number) => void
  sent: (bytes: number) => void
  /** `reason` is one of a few words of the gateway. */
  dropped: (reason: string) => void
}

export function createDatagramMetrics(
  registry: Registry,
  labels: LabelValues<'downstream_connections_total'>,
): DatagramMetrics {
  const { values } = registry
  const total = registry.slot('downstream_connections_total', labels)
  const active = registry.slot('downstream_connections_active', labels)
  const receivedBytes = registry.slot('downstream_received_bytes_total', labels)
  const sentBytes = registry.slot('downstream_sent_bytes_total', labels)
  const received = registry.slot('downstream_datagrams_received_total', labels)
  const sent = registry.slot('downstream_datagrams_sent_total', labels)
  return {
    opened() {
      increase(values, total, 1)
      increase(values, active, 1)
    },
    closed: () => increase(values, active, -1),
    received(bytes) {
      increase(values, received, 1)
      increase(values, receivedBytes, bytes)
    },
    sent(bytes) {
      increase(values, sent, 1)
      increase(values, sentBytes, bytes)
    },
    dropped(reason) {
      increase(values, registry.slot('downstream_datagrams_dropped_total', [...labels, reason]), 1)
    },
  }
}
