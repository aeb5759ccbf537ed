import { dropReasons, type ExportCounts, type Signal } from './retrying-sender.ts'
import { increase, type Registry } from '../metrics/metrics.ts'

/** Counts the items that OTLP collectors accepted and the items that were dropped; all series exist from the start. */
export function createExportCounts(registry: Registry): (signal: Signal) => ExportCounts {
  const { values } = registry
  return (signal) => {
    const sent = registry.slot('otlp_exported_records_total', [signal])
    const dropped = (reason: (typeof dropReasons)[number]): number =>
      registry.slot('otlp_dropped_records_total', [signal, reason])
    for (const reason of dropReasons) dropped(reason)
    return {
      sent: (count) => increase(values, sent, count),
      dropped: (count, reason) => increase(values, dropped(reason), count),
    }
  }
}
