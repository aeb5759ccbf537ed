import { type ExportEnv, connectCollector } from '../../../pipeline/callouts/otlp-delivery.ts'
import type { Deliver } from '../../../telemetry/otlp/retrying-sender.ts'
import type { MetricsOtlpConfig } from './schema.ts'

/** Delivers metrics to the collector. Workers send the requests, which the main thread builds from the counters of all workers. */
export function metricsDelivery(config: MetricsOtlpConfig, env: ExportEnv): Deliver {
  return connectCollector(config, METRICS, env).deliver
}

const METRICS = {
  method: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
  path: '/v1/metrics',
}
