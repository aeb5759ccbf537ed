import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { compile, type CompiledConfig, type Previous } from '../compile/index.ts'
import { createCredentials } from '../credentials/credentials.ts'
import { fetchLater } from '../credentials/fetch-later.ts'
import type { CompiledBind } from '../compile/bind.ts'
import { loadFeatures } from '../compile/load-features.ts'
import { applyChange, changeBetween } from '../ir/change.ts'
import { irOfText } from '../ir/ir-text.ts'
import type { Ir } from '../ir/resources.ts'
import { HubClient } from '../mcp/hub/hub-client.ts'
import { releaseMemoryWhenIdle } from './idle-memory.ts'
import type { ConfigMessage, FromWorker, ToWorker, WorkerSettings } from './messages.ts'
import { BindServer } from '../net/listener.ts'
import { Deadlines } from '../net/deadlines.ts'
import { createExpressions } from '../pipeline/expression.ts'
import { gatewayName } from '../pipeline/proxy-identity.ts'
import type { RequestContext } from '../pipeline/request-context.ts'
import { Specimens } from '../pipeline/specimens.ts'
import { WorkerCache } from '../state/worker-cache.ts'
import { monotonic } from '../state/monotonic.ts'
import { GivenTables } from '../state/keyed-tables.ts'
import { SharedTable } from '../state/shared-table.ts'
import { createAccessLog } from '../telemetry/log/access-log.ts'
import { createHttpDate } from '../telemetry/http-date.ts'
import { LineWriter } from '../telemetry/log/line-writer.ts'
import { type LogFilter, parseLogFilter } from '../telemetry/log/log-filter.ts'
import { createLogger } from '../telemetry/log/logger.ts'
import { Registry, type SeriesDefinition } from '../telemetry/metrics/metrics.ts'
import { watchEventLoop } from '../telemetry/metrics/runtime-metrics.ts'
import { Exemplars } from '../telemetry/metrics/exemplars.ts'
import { createRequestMetrics } from '../telemetry/metrics/request-metrics.ts'
import { createCallTimer, createPoolMetrics, evictionCounter } from '../telemetry/metrics/pool-metrics.ts'
import { createCalloutMetrics } from '../telemetry/metrics/callout-metrics.ts'
import { createLimitMetrics } from '../telemetry/metrics/limit-metrics.ts'
import { createExportCounts } from '../telemetry/metrics/export-metrics.ts'
import { createConnectionMetrics } from '../telemetry/metrics/connection-metrics.ts'
import { type Exporter, exportLimits } from '../telemetry/otlp/exporter.ts'
import type { Delivery } from '../telemetry/otlp/retrying-sender.ts'
import { exportOrigin } from './export-origin.ts'
import { Recorder } from '../telemetry/recorder/recorder.ts'
import { TraceWatch } from '../telemetry/trace/trace-watch.ts'
import { createResolver } from '../upstream/dns.ts'
import { Endpoints } from '../upstream/endpoints.ts'
import { Pools } from '../upstream/pools.ts'
import { ServiceAddresses } from '../upstream/service-addresses.ts'

const settings = workerData as WorkerSettings
if (parentPort === null) throw new Error('a worker runs in a thread of its own')
const port = parentPort

/** Series that the main thread does not know yet; a start makes dozens, and each message wakes it. */
let announced: SeriesDefinition[] = []

const writer = new LineWriter()
const logger = createLogger({ filter: filterOf(settings.logFilter), format: settings.logFormat, write: writer.write })
const log = logger.child('worker')
const requestLog = logger.child('request')
const registry = new Registry({
  region: settings.region,
  announce: (definition) => announce(definition),
})
watchEventLoop(registry, settings.name)

const deadlines = new Deadlines()
const resolver = createResolver({ family: settings.lookupFamily })
const poolMetrics = createPoolMetrics(registry)
const upstreamLog = logger.child('upstream')
const pools = new Pools(deadlines, (transport) => {
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
/** With something to send before the end. */
const exporters = new Set<Exporter>()
const services = {
  ...shared,
  deadlines,
  sessionKeys: () => sessionKeys,
  resolver,
  pools,
  endpoints,
  addresses,
  requestMetrics: createRequestMetrics(
    registry,
    (names) => log.warn('labels of metrics have too many values, new ones are counted as other', { labels: names }),
    exemplars,
  ),
  callTimer: createCallTimer(registry, ['Primary', 'Http'], exemplars),
  callouts: createCalloutMetrics(registry, exemplars),
  keyWithoutRoom: createLimitMetrics(registry),
  upstream: settings.upstream,
  ticketSecret: Buffer.from(settings.ticketSecret),
  counters,
  tables,
  seat: settings.seat,
  credentials: createCredentials({ ...shared, environment: process.env, fetch: fetchLater }),
  now: () => performance.now(),
  identity: settings.identity,
  httpDate: createHttpDate(),
  accessLog: createAccessLog({
    format: settings.logFormat,
    gateway: gatewayName(settings.identity),
    write: writer.write,
    enabled: () => requestLog.enabled('info'),
  }),
  recorder: new Recorder(Date.now),
  exports: {
    origin: () => exportOrigin(process.env),
    counts: createExportCounts(registry),
    limits: exportLimits,
    log: logger.child('otlp'),
    busy: exporters,
  },
  tracer,
  specimens: new Specimens(),
  hub,
}

interface Port {
  address: string
  port: number
  server: BindServer<string>
}

const portsByBind = new Map<string, Port>()
/** Ports that a reload removed: they accept no more, but what they had goes on. */
const retired = new Set<BindServer<string>>()
let current: { ir: Ir; config: CompiledConfig } | null = null
let applying: Promise<void> = Promise.resolve()
let isStopping = false
let sessionKeys: readonly string[] = []

port.on('message', (message: ToWorker) => {
  switch (message.type) {
    case 'config':
      // Opening ports takes a while: the next config waits for its turn.
      applying = applying.then(() => apply(message))
      return
    case 'endpoints':
      return addresses.take(message.change)
    case 'logFilter':
      return logger.setFilter(filterOf(message.filter))
    case 'drain':
      for (const server of allServers()) server.drain()
      return
    case 'look':
      return post({ type: 'looked', id: message.id, states: endpoints.states() })
    case 'count': {
      const open = new Map<string, number>()
      for (const server of allServers()) server.countOpen(open)
      return post({ type: 'counted', id: message.id, open })
    }
    case 'watch':
    case 'unwatch':
      return tracer.take(message)
    case 'mcp':
      return hub.take(message.message)
    case 'stopListening':
      isStopping = true
      void Promise.all(allServers().map((server) => server.stopListening())).then(() =>
        whenIdle(() => post({ type: 'idle' })),
      )
      return
    case 'cut':
      for (const server of allServers()) server.destroy()
      return
    case 'export':
      void exportMetrics(message.request).then((delivery) => post({ type: 'exported', id: message.id, delivery }))
      return
    case 'exit':
      for (const server of allServers()) server.destroy()
      void end()
      return
  }
})
post({ type: 'online' })
releaseMemoryWhenIdle()

async function end(): Promise<never> {
  // What was cut is logged once its connection has closed.
  await setImmediate()
  await Promise.all([...exporters].map((exporter) => exporter.flush(EXPORT_FLUSH_MS)))
  await writer.flush()
  process.exit(0)
}

/** The way there is that of the newest config. */
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
  const opened = new Map<string, Port>()
  try {
    const { ir, previous } = take(message.config)
    await loadFeatures(ir)
    sessionKeys = message.sessionKeys
    tables.take(message.tables)
    services.recorder.attach(message.recorder)
    const next = compile(ir, services, previous)
    // Opening a port may fail, so that comes first; nothing after it does.
    for (const [key, bind] of next.binds) {
      const place = placeOf(bind, message.ports[key])
      if (!isAt(portsByBind.get(key), place)) opened.set(key, { ...place, server: await listen(bind, place) })
    }
    for (const [key, { server }] of portsByBind) {
      const bind = next.binds.get(key)
      if (bind !== undefined && !opened.has(key)) server.update(bind.state, (listener) => bind.isGone(listener))
      else retire(key, server)
    }
    for (const [key, port] of opened) portsByBind.set(key, port)
    current = { ir, config: next }
    services.recorder.use(next.recorder === null ? null : { ...next.recorder, generation: message.generation })
    services.specimens.drop()
    post({ type: 'applied', error: null })
  } catch (error) {
    for (const { server } of opened.values()) server.destroy()
    log.error('config not applied', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    post({ type: 'applied', error: error instanceof Error ? error.message : String(error) })
  }
}

function take(sent: ConfigMessage['config']): { ir: Ir; previous: Previous | null } {
  if (current === null) {
    if ('change' in sent) throw new Error('found a change of a config that never came')
    return { ir: irOfText(sent.whole), previous: null }
  }
  const whole = 'whole' in sent ? irOfText(sent.whole) : current.ir
  const change = 'change' in sent ? sent.change : changeBetween(current.ir, whole)
  const changed = change === null ? null : applyChange(current.ir, change)
  const ir = changed?.ir ?? whole
  return { ir, previous: { config: current.config, changed } }
}

function placeOf({ address }: CompiledBind, port: number | undefined): { address: string; port: number } {
  if (port === undefined) throw new Error('found no port for a bind')
  return { address, port }
}

function isAt(port: Port | undefined, place: { address: string; port: number }): boolean {
  return port !== undefined && port.address === place.address && port.port === place.port
}

async function listen(bind: CompiledBind, place: { address: string; port: number }) {
  const metrics = createConnectionMetrics(registry, bind.labels)
  const warnFull = occasionally((count) =>
    log.warn('connections refused, the port has as many as frontend.tcp.maxConnections allows', {
      port: place.port,
      refused: count,
    }),
  )
  const server = new BindServer<string>(bind.state, deadlines, {
    opened: metrics.opened,
    closed: metrics.closed,
    handshake: (milliseconds) => metrics.handshake(milliseconds / 1000),
    refused: (info, status, code) => {
      log.debug('refused', { source: info.source, status, code })
      if (status === 0) metrics.refused(code)
      if (code === 'max_connections') warnFull()
    },
    reset: (info, code) => log.debug('refused', { source: info.source, status: 0, code }),
  })
  await server.listen({ port: place.port, host: place.address, reusePort: settings.reusePort })
  if (isStopping) void server.stopListening()
  return server
}

/** The main thread waits two seconds for a worker that ends. */
const EXPORT_FLUSH_MS = 1500

/** Tells of the first time at once, and then at most every ten seconds, with how many times it was since. */
function occasionally(tell: (count: number) => void): () => void {
  let count = 0
  let nextAt = 0
  return () => {
    count++
    if (performance.now() < nextAt) return
    nextAt = performance.now() + 10_000
    tell(count)
    count = 0
  }
}

function retire(key: string, server: BindServer<string>): void {
  portsByBind.delete(key)
  void server.stopListening()
  server.drain()
  retired.add(server)
  whenServerIdle(server)
}

function allServers(): BindServer<string>[] {
  return [...portsByBind.values().map((port) => port.server), ...retired]
}

function whenIdle(done: () => void): void {
  const check = setInterval(() => {
    if (allServers().some((server) => server.connectionCount > 0)) return
    clearInterval(check)
    done()
  }, 10)
}

function whenServerIdle(server: BindServer<string>): void {
  const check = setInterval(() => {
    if (server.connectionCount > 0) return
    clearInterval(check)
    retired.delete(server)
  }, 1000)
  check.unref()
}

function filterOf(text: string): LogFilter {
  const parsed = parseLogFilter(text)
  // The main thread has checked it.
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
  // What it speaks of may be a series that was made just now.
  tellOfSeries()
  port.postMessage(message)
}
