import { performance } from 'node:perf_hooks'
import { createCredentials } from '../../credentials/credentials.ts'
import { fetchLater } from '../../credentials/fetch-later.ts'
import type { SettlingGate } from '../../stores/budgets/budget-store.ts'
import type { LedgerFeed } from '../../ledger/ledger-feed.ts'
import { meshMember } from '../../mesh/mesh-member.ts'
import { ReceivedIdentity } from '../../mesh/received-identity.ts'
import { HubClient } from '../../mcp/hub/hub-client.ts'
import type { FromWorker, WorkerSettings } from './messages.ts'
import { Deadlines, Hops } from '@portico/http'
import { HandshakePasses } from '@portico/http/server'
import { CLOSING } from '../../pipeline/compiled/containment.ts'
import { createExpressions } from '../../pipeline/expression/expression.ts'
import { gatewayName } from '../../pipeline/context/proxy-identity.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import { ShapeKeepalive } from '../../pipeline/run/shape-keepalive.ts'
import type { RedisAnswers } from '../../stores/redis/redis-answers.ts'
import type { RedisBudgets } from '../../stores/redis/redis-budgets.ts'
import { WorkerCache } from '../../state/worker-cache.ts'
import { monotonic, createHttpDate } from '../../state/clock.ts'
import { GivenTables } from '../../state/keyed-tables.ts'
import { SharedTable } from '../../state/shared-table.ts'
import { createAccessLog } from '../../telemetry/log/access-log.ts'
import type { LineWriter } from '../../telemetry/log/line-writer.ts'
import type { RootLogger } from '../../telemetry/log/logger.ts'
import type { Registry } from '../../telemetry/metrics/metrics.ts'
import { Exemplars } from '../../telemetry/metrics/exemplars.ts'
import { createActiveRequests, createCallTimer, createRequestMetrics } from '../../telemetry/metrics/request-metrics.ts'
import { createPoolMetrics, evictionCounter } from '../../telemetry/metrics/pool-metrics.ts'
import { createCalloutMetrics } from '../../telemetry/metrics/callout-metrics.ts'
import { createRehearsalMetrics } from '../../telemetry/metrics/rehearsal-metrics.ts'
import { createShadowMetrics } from '../../telemetry/metrics/shadow-metrics.ts'
import { createLimitMetrics } from '../../telemetry/metrics/limit-metrics.ts'
import { createCacheMetrics } from '../../telemetry/metrics/cache-metrics.ts'
import { createPickMetrics } from '../../telemetry/metrics/pick-metrics.ts'
import { createExportCounts } from '../../telemetry/otlp/export-metrics.ts'
import type { Exporter } from '../../telemetry/otlp/exporter.ts'
import { exportLimits } from '../../telemetry/otlp/export-limits.ts'
import { exportOrigin } from '../telemetry/export-origin.ts'
import type { WorkerPorts } from './worker-ports.ts'
import { Recorder } from '../../telemetry/recorder/recorder.ts'
import { TraceWatch } from '../../telemetry/trace/trace-watch.ts'
import { createAddressGuard, createResolver, Endpoints, Hbone, Pools, ServiceAddresses } from '@portico/http/client'

interface WorkerServiceParts {
  settings: WorkerSettings
  registry: Registry
  writer: LineWriter
  logger: RootLogger
  deadlines: Deadlines
  post: (message: FromWorker) => void
  ports: () => WorkerPorts
}

export type WorkerServices = ReturnType<typeof createWorkerServices>

/** `createWorkerServices` creates the services that compiled configs of a worker use, for the lifetime of the worker. */
export function createWorkerServices({
  settings,
  registry,
  writer,
  logger,
  deadlines,
  post,
  ports,
}: WorkerServiceParts) {
  const resolver = createResolver({ family: settings.lookupFamily })
  const poolMetrics = createPoolMetrics(registry)
  const upstreamLog = logger.child('upstream')
  const hops = new Hops(settings.instance)
  const pools = new Pools(deadlines, hops, (transport) => {
    const metrics = poolMetrics(transport)
    return {
      ...metrics,
      connectFailed(error, address) {
        metrics.connectFailed()
        upstreamLog.debug('connect failed', { ...address, transport, error: error.message })
      },
      fellSilent(address, calls) {
        metrics.fellSilent()
        upstreamLog.info('connection closed: a ping was not answered', { ...address, transport, calls })
      },
    }
  })
  const counters = new SharedTable(settings.counters)
  const tables = new GivenTables()
  const countEviction = evictionCounter(registry)
  const endpoints = new Endpoints({
    counters,
    random: Math.random,
    monotonic,
    evicted({ backend, ...eviction }) {
      countEviction(backend)
      upstreamLog.info('endpoint evicted', { backend, ...eviction })
    },
  })
  const addresses = new ServiceAddresses()
  const mesh = new ReceivedIdentity(settings.mesh, Date.now)
  const hbone = new Hbone({
    member: meshMember(mesh),
    pools,
    connectTimeoutMs: settings.upstream.connectTimeoutMs,
    idleTimeoutMs: settings.upstream.poolIdleTimeoutMs,
  })
  mesh.onChange(() => hbone.certificateChanged())
  const tracer: TraceWatch<RequestContext> = new TraceWatch({
    shared: settings.traces,
    worker: settings.number,
    compile(source) {
      const expression = createExpressions(services)(source, 'start')
      return (rx) => expression.isTrue(rx)
    },
    post,
  })
  const hub = new HubClient({ post: (message) => post({ type: 'mcp', message }), clock: Date.now })
  const shared = {
    random: Math.random,
    kept: new WorkerCache(),
    monotonic,
    clock: Date.now,
    log: logger.child('pipeline'),
  }
  const exemplars = new Exemplars((exemplar) => post({ type: 'exemplar', exemplar }))
  const services = {
    ...shared,
    deadlines,
    sessionKeys: (): readonly string[] => services.keysOfSessions,
    /** The session keys of the newest config. */
    keysOfSessions: [] as readonly string[],
    resolver,
    addressGuard: createAddressGuard,
    hops,
    handshakes: new HandshakePasses(),
    pools,
    endpoints,
    addresses,
    hbone,
    mesh,
    streamPort: (port: number) => ports().streamsOf(port),
    requestMetrics: createRequestMetrics(
      registry,
      (names) =>
        logger
          .child('worker')
          .warn('metric labels have too many values, new values are counted as other', { labels: names }),
      exemplars,
    ),
    callTimer: createCallTimer(registry, ['Primary', 'Http'], exemplars),
    countActive: createActiveRequests(registry),
    callouts: createCalloutMetrics(registry, exemplars),
    keyWithoutRoom: createLimitMetrics(registry),
    rehearsed: createRehearsalMetrics(registry),
    countShadow: createShadowMetrics(registry),
    picks: createPickMetrics(registry),
    answerCounts: createCacheMetrics(registry),
    upstream: settings.upstream,
    ticketSecret: Buffer.from(settings.ticketSecret),
    counters,
    tables,
    seat: settings.seat,
    credentials: createCredentials({ ...shared, environment: process.env, fetch: fetchLater }),
    now: performance.now.bind(performance),
    identity: settings.identity,
    httpDate: createHttpDate(),
    accessLog: createAccessLog({
      format: settings.logFormat,
      gateway: gatewayName(settings.identity),
      write: writer.write,
      log: logger.child('request'),
    }),
    recorder: new Recorder(Date.now),
    /** The feed of the ledger; null without `config.ledger`. */
    ledger: null as LedgerFeed<RequestContext> | null,
    /** Keeps amounts of budgets as they are while they are saved; null where that is not needed. */
    settling: null as SettlingGate | null,
    /** The budgets in Redis; null without `config.stores.redis`. */
    budgets: null as RedisBudgets | null,
    /** The cached responses in Redis; null until a config shares a response cache. */
    answers: null as RedisAnswers | null,
    exports: {
      origin: () => exportOrigin(process.env),
      counts: createExportCounts(registry),
      limits: exportLimits,
      log: logger.child('otlp'),
      /** The exporters that must flush before the worker ends. */
      busy: new Set<Exporter>(),
    },
    tracer,
    containment: CLOSING,
    shapeKeepalive: new ShapeKeepalive(),
    hub,
  }
  return services
}
