import type { CollectorConfig } from '../../schema/fields/collector.ts'
import type { LogValue } from '../../telemetry/log/edited-line.ts'
import { createEnvelope } from '../../telemetry/otlp/envelope.ts'
import { Exporter } from '../../telemetry/otlp/exporter.ts'
import { type CollectorService, type ExportEnv, wayToCollector } from './otlp-delivery.ts'
import type { ExportServices } from '../run/telemetry.ts'

/** What goes to a collector, and how. */
export interface ExportPlan {
  signal: 'logs' | 'traces'
  collector: CollectorConfig
  service: CollectorService
  /** What the config says of the sender, beside what the gateway says of itself. */
  resource?: Readonly<Record<string, LogValue>>
}

/** Sends items of one kind. What waits to be sent outlives reloads that leave the way to the collector as it is. */
export function keptExporter(plan: ExportPlan, env: ExportEnv, { exports }: ExportServices): Exporter {
  const { signal, collector, service, resource = {} } = plan
  const { deliver, key, address } = wayToCollector(collector, service, env)
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
