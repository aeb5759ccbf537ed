import { ConfigFault } from '../../../pipeline/config-fault.ts'
import { type ExportEnv, grpcDelivery, httpDelivery } from '../../../pipeline/otlp-delivery.ts'
import type { ExportLog, ExportServices } from '../../../pipeline/telemetry.ts'
import { createEnvelope } from '../../../telemetry/otlp/envelope.ts'
import { Exporter } from '../../../telemetry/otlp/exporter.ts'
import { LogRecordEncoder } from '../../../telemetry/otlp/log-record.ts'
import { readTraceparent } from '../../../telemetry/otlp/traceparent.ts'
import type { AccessLogConfig } from './schema.ts'

/** Sends what is logged to a collector; null where the config names none. */
export function otlpLog(config: AccessLogConfig, env: ExportEnv, services: ExportServices): ExportLog | null {
  if (config.otlp === undefined) return null
  const { backendRef, protocol, path = '/v1/logs' } = config.otlp
  if (protocol === 'GRPC' && config.otlp.path !== undefined) {
    const expected = '`protocol: HTTP`, or no path: that of gRPC is fixed'
    throw new ConfigFault(config, ['otlp', 'path'], { found: 'found a path for gRPC', expected })
  }
  const backend = backendRef.name ?? backendRef.host
  const deliver =
    protocol === 'GRPC' ? grpcDelivery({ backend, path: EXPORT }, env) : httpDelivery({ backend, path }, env)
  const { content, address } = env.describe(backend)
  const { origin, counts, limits, log, busy } = services.exports
  // What waits to be sent outlives reloads that leave the way to the collector as it is.
  const exporter = env.kept.shared(`otlp logs ${protocol} ${path} ${content}`, () => {
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

const EXPORT = '/opentelemetry.proto.collector.logs.v1.LogsService/Export'
/** As lines of the log have it. */
const GATEWAY = 'default/default'
