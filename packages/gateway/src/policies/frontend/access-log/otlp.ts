import type { ExportEnv } from '../../../pipeline/otlp-delivery.ts'
import { keptExporter } from '../../../pipeline/otlp-exporter.ts'
import type { ExportLog, ExportServices } from '../../../pipeline/telemetry.ts'
import { LogRecordEncoder } from '../../../telemetry/otlp/log-record.ts'
import type { AccessLogConfig } from './schema.ts'

/** Sends what is logged to a collector; null where the config names none. */
export function otlpLog(config: AccessLogConfig, env: ExportEnv, services: ExportServices): ExportLog | null {
  if (config.otlp === undefined) return null
  const exporter = keptExporter({ signal: 'logs', collector: config.otlp, service: LOGS }, env, services)
  const encoder = new LogRecordEncoder(exporter)
  return (record, changes) => encoder.add({ record, gateway: GATEWAY, changes, time: env.clock() })
}

const LOGS = { method: '/opentelemetry.proto.collector.logs.v1.LogsService/Export', path: '/v1/logs' }
/** As lines of the log have it. */
const GATEWAY = 'default/default'
