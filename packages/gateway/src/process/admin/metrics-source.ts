import type { MetricsSource } from '../../admin/metrics-api.ts'
import type { MetricHistory } from '../../telemetry/history/metric-history.ts'
import { usageOf } from '../../telemetry/history/usage.ts'
import type { RecordStore } from '../../telemetry/recorder/record-store.ts'
import type { RequestRecord } from '../../telemetry/recorder/record.ts'

/** Rates and tokens come from counters. Usage by key comes from the recorder, because counters have no keys. */
export function createMetricsSource(history: MetricHistory, store: RecordStore): MetricsSource {
  return {
    series: (range) => history.view(range),
    usage: (range) => usageOf({ range, now: Date.now(), completeSince: store.completeSince, records: newest(store) }),
  }
}

function* newest(store: RecordStore): Iterable<RequestRecord> {
  for (const stored of store.all()) {
    const record = stored.decode()
    if (record !== null) yield record
  }
}
