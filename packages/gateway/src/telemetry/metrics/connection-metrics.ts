import { families, type LabelValues } from './families.ts'
import { increase, observe, type Registry } from './metrics.ts'

/** Counts the client connections of one listener. */
interface ConnectionMetrics {
  opened: () => void
  /** Called with the total bytes of the connection. */
  closed: (receivedBytes: number, sentBytes: number) => void
  handshake(seconds: number): void
  /** The connection was closed instead of served; `reason` is one of a few words of the gateway. */
  refused(reason: string): void
}

export function createConnectionMetrics(
  registry: Registry,
  labels: LabelValues<'downstream_connections_total'>,
): ConnectionMetrics {
  const { values } = registry
  const total = registry.slot('downstream_connections_total', labels)
  const active = registry.slot('downstream_connections_active', labels)
  const received = registry.slot('downstream_received_bytes_total', labels)
  const sent = registry.slot('downstream_sent_bytes_total', labels)
  // Made on the first handshake, so that plain listeners show no empty histogram.
  let handshakes = -1
  return {
    opened() {
      increase(values, total, 1)
      increase(values, active, 1)
    },
    closed(receivedBytes, sentBytes) {
      increase(values, active, -1)
      increase(values, received, receivedBytes)
      increase(values, sent, sentBytes)
    },
    handshake(seconds) {
      if (handshakes < 0) handshakes = registry.slot('tls_handshake_duration_seconds', labels)
      observe(values, handshakes, families.tls_handshake_duration_seconds.buckets, seconds)
    },
    refused(reason) {
      increase(values, registry.slot('downstream_connections_refused_total', [...labels, reason]), 1)
    },
  }
}
