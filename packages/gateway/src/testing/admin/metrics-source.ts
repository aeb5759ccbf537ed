import type { MetricsSource } from '../../admin/metrics-api.ts'
import { createMetricsSource } from '../../process/admin/metrics-source.ts'
import { MetricHistory } from '../../telemetry/history/metric-history.ts'
import { Collector } from '../../telemetry/metrics/metrics-collect.ts'
import { RecordStore } from '../../telemetry/recorder/record-store.ts'

/** Figures of the last hours, of a gateway without traffic. */
export function noHistory(): MetricsSource {
  return createMetricsSource(new MetricHistory(new Collector()), new RecordStore())
}
