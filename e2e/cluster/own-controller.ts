import assert from 'node:assert/strict'
import { Controller } from '../../packages/controller/src/controller.ts'
import { Metrics } from '../../packages/controller/src/metrics.ts'
import { loadResourceChecks } from '../../packages/gateway/src/compile/resource-checks.ts'
import { testPolicy } from '../../packages/gateway/src/policy-tests/index.ts'
import { createLogger, parseLogFilter } from '../../packages/gateway/src/telemetry/log/index.ts'
import type { Bed } from './bed/bed.ts'

/** Starts a controller in this process, whose data planes accept each config; returns a function that ends it. */
export async function startController({ client }: Bed): Promise<() => Promise<void>> {
  const filter = parseLogFilter('off')
  assert.ok(filter.ok)
  const logger = createLogger({ filter: filter.value, format: 'text', write: () => undefined })
  const nothing = (): void => undefined
  const controller = new Controller({
    client,
    streams: {
      publish: nothing,
      reach: nothing,
      retire: nothing,
      stateOf: () => ({ connected: 1, acknowledged: true, problems: [] }),
      connected: () => new Map(),
    },
    controllerName: 'portico.dev/gateway',
    clusterDomain: 'cluster.local',
    externalNames: [],
    checks: await loadResourceChecks(),
    namespace: 'default',
    namespaces: null,
    namespaceSelector: null,
    testPolicy: (job, signal) => testPolicy(job, { ms: 20_000, heapMb: 256, signal }),
    deploy: { image: {}, version: '1.2.3' },
    peers: { take: nothing, lead: nothing, follow: nothing, isIncomplete: false },
    log: (module) => logger.child(module),
    metrics: new Metrics(),
  })
  const stop = new AbortController()
  const running = controller.run(stop.signal)
  controller.lead()
  return async () => {
    stop.abort()
    await controller.follow()
    await running
  }
}
