import { type ExportEnv, wayToCollector } from '../../../pipeline/callouts/otlp-delivery.ts'
import type { Deliver } from '../../../telemetry/otlp/retrying-sender.ts'
import type { MetricsOtlpConfig } from './schema.ts'

/** The way to the collector of metrics. Workers know it; what goes there the main thread makes of what they all count. */
export function metricsDelivery(config: MetricsOtlpConfig, env: ExportEnv): Deliver {
  return wayToCollector(config, METRICS, env).deliver
}

const METRICS = {
  method: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
  path: '/v1/metrics',
}
