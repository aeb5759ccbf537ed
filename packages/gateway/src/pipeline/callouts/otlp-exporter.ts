import type { CollectorConfig } from '../../schema/fields/collector.ts'
import type { LogValue } from '../../telemetry/log/access-log.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import { createEnvelope, type Origin } from '../../telemetry/otlp/envelope.ts'
import type { ExportLimits } from '../../telemetry/otlp/export-limits.ts'
import { Exporter } from '../../telemetry/otlp/exporter.ts'
import type { ExportCounts, Signal } from '../../telemetry/otlp/retrying-sender.ts'
import { type CollectorService, type ExportEnv, connectCollector } from './otlp-delivery.ts'

/** The services that exports of telemetry need. */
export interface ExportServices {
  exports: {
    /** Called when the first items are sent. */
    origin: () => Origin
    counts: (signal: Signal) => ExportCounts
    limits: ExportLimits
    log: Logger
    busy: Set<Exporter>
  }
}

/** The items that go to an OTLP collector, and the collector. */
interface ExportPlan {
  signal: 'logs' | 'traces'
  collector: CollectorConfig
  service: CollectorService
  /** Resource attributes of the config, added to those of the gateway. */
  resource?: Readonly<Record<string, LogValue>>
}

/** Returns the exporter of one signal. It is shared, so waiting items survive reloads that keep the collector. */
export function keptExporter(plan: ExportPlan, env: ExportEnv, { exports }: ExportServices): Exporter {
  const { signal, collector, service, resource = {} } = plan
  const { deliver, key, address } = connectCollector(collector, service, env)
  const { origin, counts, limits, log, busy } = exports
  const exporter = env.kept.shared(`otlp ${signal} ${JSON.stringify(resource)} ${key}`, () => {
    const who = origin()
    return new Exporter({
      wrap: createEnvelope({ ...who, resource: { ...who.resource, ...resource } }),
      deliver,
      counts: counts(signal),
      limits,
      log,
      to: address,
      busy,
    })
  })
  exporter.deliver = deliver
  return exporter
}
