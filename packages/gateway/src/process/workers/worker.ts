import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { compile, type CompiledConfig, type Previous } from '../../compile/index.ts'
import { createCredentials } from '../../credentials/credentials.ts'
import { fetchLater } from '../../credentials/fetch-later.ts'
import { loadFeatures } from '../../compile/load-features.ts'
import { applyChange, changeBetween } from '../../ir/change.ts'
import { irOfText } from '../../ir/ir-text.ts'
import type { Ir } from '../../ir/resources.ts'
import type { LedgerFeed } from '../../ledger/ledger-feed.ts'
import { meshMember } from '../../mesh/mesh-member.ts'
import { ReceivedIdentity } from '../../mesh/received-identity.ts'
import { HubClient } from '../../mcp/hub/hub-client.ts'
import { releaseMemoryWhenIdle } from './idle-memory.ts'
import type { ConfigMessage, FromWorker, ToWorker, WorkerSettings } from './messages.ts'
import { Deadlines, Hops } from '@portico/http'
import { contained, describeFault, onFault, onFaultCount, reportFault } from '@portico/http/faults'
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
import { LineWriter } from '../../telemetry/log/line-writer.ts'
import { type LogFilter, parseLogFilter } from '../../telemetry/log/log-filter.ts'
import { createLogger } from '../../telemetry/log/logger.ts'
import { increase, Registry, type SeriesDefinition } from '../../telemetry/metrics/metrics.ts'
import { watchEventLoop } from '../../telemetry/metrics/runtime-metrics.ts'
import { Exemplars } from '../../telemetry/metrics/exemplars.ts'
import { createActiveRequests, createCallTimer, createRequestMetrics } from '../../telemetry/metrics/request-metrics.ts'
import { createPoolMetrics, evictionCounter } from '../../telemetry/metrics/pool-metrics.ts'
import { createCalloutMetrics } from '../../telemetry/metrics/callout-metrics.ts'
import { createFaultMetrics } from '../../telemetry/metrics/fault-metrics.ts'
import { createRehearsalMetrics } from '../../telemetry/metrics/rehearsal-metrics.ts'
import { createShadowMetrics } from '../../telemetry/metrics/shadow-metrics.ts'
import { createLimitMetrics } from '../../telemetry/metrics/limit-metrics.ts'
import { createCacheMetrics } from '../../telemetry/metrics/cache-metrics.ts'
import { createPickMetrics } from '../../telemetry/metrics/pick-metrics.ts'
import { createExportCounts } from '../../telemetry/otlp/export-metrics.ts'
import type { Exporter } from '../../telemetry/otlp/exporter.ts'
import { exportLimits } from '../../telemetry/otlp/export-limits.ts'
import type { Delivery } from '../../telemetry/otlp/retrying-sender.ts'
import { exportOrigin } from '../telemetry/export-origin.ts'
import { WorkerPorts } from './worker-ports.ts'
import { Recorder } from '../../telemetry/recorder/recorder.ts'
import { TraceWatch } from '../../telemetry/trace/trace-watch.ts'
import { createAddressGuard, createResolver, Endpoints, Hbone, Pools, ServiceAddresses } from '@portico/http/client'

const settings = workerData as WorkerSettings
if (parentPort === null) throw new Error('a worker runs in a thread of its own')
const port = parentPort

/** Series that the main thread does not know yet. They are sent in batches, because each message wakes that thread. */
let announced: SeriesDefinition[] = []

const writer = new LineWriter()
const logger = createLogger({ filter: filterOf(settings.logFilter), format: settings.logFormat, write: writer.write })
const log = logger.child('worker')
const registry = new Registry({
  region: settings.region,
  announce: (definition) => announce(definition),
})
watchEventLoop(registry, settings.name)

const deadlines = new Deadlines()
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
/** Exporters that must flush before the worker exits. */
const exporters = new Set<Exporter>()
const services = {
  ...shared,
  deadlines,
  sessionKeys: () => sessionKeys,
  resolver,
  addressGuard: createAddressGuard,
  hops,
  handshakes: new HandshakePasses(),
  pools,
  endpoints,
  addresses,
  hbone,
  mesh,
  streamPort: (port: number) => ports.streamsOf(port),
  requestMetrics: createRequestMetrics(
    registry,
    (names) => log.warn('metric labels have too many values, new values are counted as other', { labels: names }),
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
  /** Null without `config.ledger`. */
  ledger: null as LedgerFeed<RequestContext> | null,
  /** Null without `config.stores.redis`. */
  budgets: null as RedisBudgets | null,
  /** Null until a config shares answers. */
  answers: null as RedisAnswers | null,
  exports: {
    origin: () => exportOrigin(process.env),
    counts: createExportCounts(registry),
    limits: exportLimits,
    log: logger.child('otlp'),
    busy: exporters,
  },
  tracer,
  containment: CLOSING,
  shapeKeepalive: new ShapeKeepalive(),
  hub,
}

const ports = new WorkerPorts({ deadlines, registry, log, reusePort: settings.reusePort })
let current: { ir: Ir; config: CompiledConfig } | null = null
let applying: Promise<void> = Promise.resolve()
let sessionKeys: readonly string[] = []

onFaultCount(createFaultMetrics(registry))
onFault((error, scope) => {
  log.error('internal error', { scope, error: describeFault(error) })
  if (scope === 'worker') post({ type: 'faulted' })
})
// A thread that ended here would take every connection with it. The error belongs to no known request, so the supervisor
// starts another worker, and then lets this one finish its open requests.
process.on('uncaughtException', (error: unknown) => reportFault(error, 'worker'))
process.on('unhandledRejection', (error: unknown) => reportFault(error, 'worker'))

port.on('message', (message: ToWorker) => contained('worker', () => take(message)))

function take(message: ToWorker): void {
  switch (message.type) {
    case 'config':
      // Opening ports takes a while: the next config waits for its turn.
      applying = applying.then(() => apply(message))
      return
    case 'endpoints':
      return addresses.take(message.change)
    case 'mesh':
      return mesh.take(message.state)
    case 'logFilter':
      return logger.setFilter(filterOf(message.filter))
    case 'drain':
      return ports.drain(message.quietMs)
    case 'look':
      return post({ type: 'looked', id: message.id, states: endpoints.states() })
    case 'cache':
      void import('../../cache/cache-command.ts').then(async ({ runCacheCommand }) =>
        post({ type: 'cached', id: message.id, answer: await runCacheCommand(message.command, services) }),
      )
      return
    case 'ping':
      return post({ type: 'alive', id: message.id })
    case 'count':
      return post({ type: 'counted', id: message.id, open: ports.countOpen() })
    case 'watch':
    case 'unwatch':
      return tracer.take(message)
    case 'mcp':
      return hub.take(message.message)
    case 'stopListening':
      void ports.stopListening().then(() => post({ type: 'idle' }))
      return
    case 'cut':
      return ports.destroy()
    case 'export':
      void exportMetrics(message.request).then((delivery) => post({ type: 'exported', id: message.id, delivery }))
      return
    case 'exit':
      ports.destroy()
      void end()
      return
  }
}

post({ type: 'online' })
releaseMemoryWhenIdle()

async function end(): Promise<never> {
  // A cut request is logged once its connection has closed.
  await setImmediate()
  services.ledger?.flush()
  await services.budgets?.close(EXPORT_FLUSH_MS)
  services.answers?.close()
  await Promise.all([...exporters].map((exporter) => exporter.flush(EXPORT_FLUSH_MS)))
  await writer.flush()
  process.exit(0)
}

/** Sends metrics to the collector of the newest config. */
async function exportMetrics(request: Uint8Array): Promise<Delivery> {
  const deliver = current?.config.deliverMetrics ?? null
  if (deliver === null) return { kind: 'refused', cause: 'the config names no collector' }
  try {
    return await deliver(Buffer.from(request.buffer, request.byteOffset, request.byteLength))
  } catch (error) {
    return { kind: 'refused', cause: error instanceof Error ? error.message : String(error) }
  }
}

async function apply(message: ConfigMessage): Promise<void> {
  try {
    const { ir, previous } = read(message.config)
    await loadFeatures(ir)
    if (settings.hasLedger) {
      const { LedgerFeed } = await import('../../ledger/ledger-feed.ts')
      services.ledger ??= new LedgerFeed<RequestContext>(services.recorder, post)
    }
    if (settings.redis !== null && services.budgets === null) {
      const { openRedisBudgets } = await import('../../stores/redis/open-budgets.ts')
      const [record, lost] = [services.callouts('BudgetStore'), registry.slot('budget_costs_lost_total', [])]
      services.budgets = openRedisBudgets(settings.redis, {
        clock: Date.now,
        record: (outcome, milliseconds) => record(outcome, milliseconds, null),
        countLost: () => increase(registry.values, lost, 1),
        log: logger.child('budget'),
      })
    }
    sessionKeys = message.sessionKeys
    if (settings.redis !== null && services.answers === null && sharesAnswers(ir)) {
      const { openRedisAnswers } = await import('../../stores/redis/open-answers.ts')
      const record = services.callouts('CacheStore')
      services.answers = openRedisAnswers(settings.redis, {
        sessionKeys: () => sessionKeys,
        record: (outcome, milliseconds) => record(outcome, milliseconds, null),
        counts: services.answerCounts(),
        log: logger.child('cache'),
      })
    }
    tables.take(message.tables)
    services.recorder.attach(message.recorder)
    const next = compile(ir, services, previous)
    await ports.serve(next.binds, message.ports)
    current = { ir, config: next }
    const { generation } = message
    services.recorder.use(next.recorder === null ? null : { ...next.recorder, generation }, services.now())
    services.shapeKeepalive.drop()
    post({ type: 'applied', error: null })
  } catch (error) {
    log.error('config not applied', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    post({ type: 'applied', error: error instanceof Error ? error.message : String(error) })
  }
}

function read(sent: ConfigMessage['config']): { ir: Ir; previous: Previous | null } {
  if (current === null) {
    if ('change' in sent) throw new Error('received a change to a config that was never received')
    return { ir: irOfText(sent.whole), previous: null }
  }
  const whole = 'whole' in sent ? irOfText(sent.whole) : current.ir
  const change = 'change' in sent ? sent.change : changeBetween(current.ir, whole)
  const changed = change === null ? null : applyChange(current.ir, change)
  const ir = changed?.ir ?? whole
  return { ir, previous: { config: current.config, changed } }
}

function sharesAnswers({ policies }: Ir): boolean {
  return policies.some(({ backend }) => backend?.ai?.cache?.shared !== undefined)
}

/** The main thread waits two seconds for a worker that ends. */
const EXPORT_FLUSH_MS = 750

function filterOf(text: string): LogFilter {
  const parsed = parseLogFilter(text)
  // The main thread has validated the filter.
  if (!parsed.ok) throw new Error(`log filter ${text}`)
  return parsed.value
}

function announce(definition: SeriesDefinition): void {
  if (announced.push(definition) === 1) queueMicrotask(tellOfSeries)
}

function tellOfSeries(): void {
  if (announced.length === 0) return
  const definitions = announced
  announced = []
  port.postMessage({ type: 'series', definitions } satisfies FromWorker)
}

function post(message: FromWorker): void {
  // The message may refer to a series that was created just now.
  tellOfSeries()
  port.postMessage(message)
}
