import type { Metrics } from './metrics.ts'
import type { PublishCounts } from './publish/counts.ts'
import { VERSION } from './version.ts'

/** Copies the counts of messages to and from data planes into the metrics. */
export function measureStreams(metrics: Metrics, { messages, refused, bytes, acks }: PublishCounts): void {
  for (const [type, count] of Object.entries(messages)) metrics.set('stream_messages_total', count, { type })
  for (const [reason, count] of Object.entries(refused)) metrics.set('stream_refusals_total', count, { reason })
  metrics.set('stream_sent_bytes_total', bytes)
  metrics.set('stream_acknowledgements_total', acks)
}

export function measureProcess(metrics: Metrics): void {
  const { user, system } = process.cpuUsage()
  metrics.set('build_info', 1, { tag: VERSION })
  metrics.set('process_cpu_seconds_total', (user + system) / 1e6)
  metrics.set('process_resident_memory_bytes', process.memoryUsage.rss())
  metrics.set('process_start_time_seconds', Math.round((performance.timeOrigin / 1000) * 1000) / 1000)
}
