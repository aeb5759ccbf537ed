import { type ExportEnv, wayToCollector } from '../../../pipeline/otlp-delivery.ts'
import type { ExportLog, ExportServices } from '../../../pipeline/telemetry.ts'
import { createEnvelope } from '../../../telemetry/otlp/envelope.ts'
import { Exporter } from '../../../telemetry/otlp/exporter.ts'
import { LogRecordEncoder } from '../../../telemetry/otlp/log-record.ts'
import { readTraceparent } from '../../../telemetry/otlp/traceparent.ts'
import type { AccessLogConfig } from './schema.ts'

/** Sends what is logged to a collector; null where the config names none. */
export function otlpLog(config: AccessLogConfig, env: ExportEnv, services: ExportServices): ExportLog | null {
  if (config.otlp === undefined) return null
  const { deliver, key, address } = wayToCollector(config.otlp, LOGS, env)
  const { origin, counts, limits, log, busy } = services.exports
  // What waits to be sent outlives reloads that leave the way to the collector as it is.
  const exporter = env.kept.shared(`otlp logs ${key}`, () => {
    return new Exporter({
      wrap: createEnvelope(origin()),
      deliver,
      counts: counts('logs'),
      limits,
      log,
      to: address,
      busy,
    })
  })
  exporter.deliver = deliver
  const encoder = new LogRecordEncoder()
  return (record, changes, traceparent) => {
    const trace = readTraceparent(traceparent)
    exporter.add(encoder.encode({ record, gateway: GATEWAY, changes, time: env.clock(), trace }))
  }
}

const LOGS = { method: '/opentelemetry.proto.collector.logs.v1.LogsService/Export', path: '/v1/logs' }
/** As lines of the log have it. */
const GATEWAY = 'default/default'
