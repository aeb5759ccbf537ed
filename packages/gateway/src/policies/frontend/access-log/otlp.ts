import type { ExportEnv } from '../../../pipeline/callouts/otlp-delivery.ts'
import { type ExportServices, keptExporter } from '../../../pipeline/callouts/otlp-exporter.ts'
import { gatewayName, type ProxyIdentity } from '../../../pipeline/context/proxy-identity.ts'
import { LogRecordEncoder } from '../../../telemetry/otlp/log-record.ts'
import { WallTime } from '../../../state/clock.ts'
import type { ExportLog } from '../../../telemetry/request-telemetry.ts'
import type { AccessLogConfig } from './schema.ts'

/** Sends the access log to a collector; null when the config names none. */
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
