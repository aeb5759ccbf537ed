import type { ExportEnv } from '../../../pipeline/callouts/otlp-delivery.ts'
import { keptExporter } from '../../../pipeline/callouts/otlp-exporter.ts'
import type { ExportLog, ExportServices } from '../../../pipeline/run/telemetry.ts'
import { gatewayName, type ProxyIdentity } from '../../../pipeline/context/proxy-identity.ts'
import { LogRecordEncoder } from '../../../telemetry/otlp/log-record.ts'
import { WallTime } from '../../../telemetry/wall-time.ts'
import type { AccessLogConfig } from './schema.ts'

/** Sends what is logged to a collector; null where the config names none. */
export function otlpLog(
  config: AccessLogConfig,
  env: ExportEnv,
  services: ExportServices & { identity: ProxyIdentity },
): ExportLog | null {
  if (config.otlp === undefined) return null
  const exporter = keptExporter({ signal: 'logs', collector: config.otlp, service: LOGS }, env, services)
  const encoder = new LogRecordEncoder(exporter)
  const gateway = gatewayName(services.identity)
  const times = new WallTime(env.clock)
  return (record, changes) => {
    const endedAt = record.startedAt + record.durationMs
    // A message that was refused before it became a request has no times of its own.
    const time = endedAt === 0 ? env.clock() : times.of(endedAt, endedAt)
    encoder.add({ record, gateway, changes, time })
  }
}

const LOGS = { method: '/opentelemetry.proto.collector.logs.v1.LogsService/Export', path: '/v1/logs' }
