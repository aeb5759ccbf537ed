import { parentPort, workerData } from 'node:worker_threads'
import { compile, type CompiledConfig } from './compile.ts'
import type { FromWorker, ToWorker, WorkerSettings } from './messages.ts'
import { BindServer } from './net/listener.ts'
import { Deadlines } from './net/deadlines.ts'
import type { CompiledListener } from './pipeline/compiled.ts'
import { createAccessLog, refusedRecord } from './telemetry/access-log.ts'
import { createHttpDate } from './telemetry/http-date.ts'
import { createLineWriter } from './telemetry/line-writer.ts'
import { type LogFilter, parseLogFilter } from './telemetry/log-filter.ts'
import { createLogger } from './telemetry/logger.ts'
import { createRegistry } from './telemetry/metrics.ts'
import { watchEventLoop } from './telemetry/runtime-metrics.ts'
import { createRequestMetrics } from './telemetry/request-metrics.ts'
import { createCallTimer, createPoolMetrics } from './telemetry/pool-metrics.ts'
import { createConnectionMetrics } from './telemetry/connection-metrics.ts'
import { createResolver } from './upstream/dns.ts'
import { Pools } from './upstream/pools.ts'

const settings = workerData as WorkerSettings
const port = parentPort!

const writer = createLineWriter()
const logger = createLogger({ filter: filterOf(settings.logFilter), format: settings.logFormat, write: writer.write })
const log = logger.child('worker')
const requestLog = logger.child('request')
const registry = createRegistry({
  region: settings.region,
  announce: (definition) => post({ type: 'series', definition }),
})
watchEventLoop(registry, settings.name)

const deadlines = new Deadlines()
const resolver = createResolver({ family: settings.lookupFamily })
const pools = new Pools(deadlines, createPoolMetrics(registry))
const services = {
  deadlines,
  resolver,
  pools,
  requestMetrics: createRequestMetrics(registry),
  callTimer: createCallTimer(registry, 'Primary', 'Http'),
  upstream: settings.upstream,
  ticketSecret: Buffer.from(settings.ticketSecret),
  random: Math.random,
  now: () => performance.now(),
  httpDate: createHttpDate(),
  accessLog: createAccessLog({
    format: settings.logFormat,
    write: writer.write,
    enabled: () => requestLog.enabled('info'),
  }),
  log: logger.child('pipeline'),
}

const serversByBind = new Map<string, BindServer<CompiledListener>>()
/** Ports that a reload removed: they accept no more, but what they had goes on. */
const retired = new Set<BindServer<CompiledListener>>()
let current: CompiledConfig | null = null

port.on('message', (message: ToWorker) => {
  switch (message.type) {
    case 'config':
      void apply(message)
      return
    case 'logFilter':
      return logger.setFilter(filterOf(message.filter))
    case 'drain':
      for (const server of allServers()) server.drain()
      return
    case 'stopListening':
      for (const server of serversByBind.values()) server.stopListening()
      return whenIdle(() => post({ type: 'idle' }))
    case 'exit':
      for (const server of allServers()) server.destroy()
      void writer.flush().then(() => process.exit(0))
      return
  }
})
post({ type: 'online' })

async function apply(message: ToWorker & { type: 'config' }): Promise<void> {
  try {
    const next = compile(message.ir, services, current)
    for (const [key, bind] of next.binds) {
      const server = serversByBind.get(key)
      if (server !== undefined) server.update(bind.state, (listener) => bind.isGone(listener))
      else await listen(key, next, message.ports[key]!)
    }
    for (const [key, server] of serversByBind) {
      if (next.binds.has(key)) continue
      serversByBind.delete(key)
      server.stopListening()
      server.drain()
      retired.add(server)
      whenServerIdle(server)
    }
    current = next
    post({ type: 'applied', generation: message.generation, error: null })
  } catch (error) {
    log.error('config not applied', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    post({ type: 'applied', generation: message.generation, error: String(error) })
  }
}

async function listen(key: string, config: CompiledConfig, portNumber: number): Promise<void> {
  const bind = config.binds.get(key)!
  const metrics = createConnectionMetrics(registry, bind.labels)
  const server = new BindServer<CompiledListener>(bind.state, deadlines, {
    opened: metrics.opened,
    closed: metrics.closed,
    handshake: (milliseconds) => metrics.handshake(milliseconds / 1000),
    refused: (info, status, code) => {
      log.debug('refused', { source: info.source, status, code })
      if (status > 0) services.accessLog(refusedRecord(info, status, code))
    },
  })
  await server.listen({ port: portNumber, host: bind.address, reusePort: settings.reusePort })
  serversByBind.set(key, server)
}

function allServers(): BindServer<CompiledListener>[] {
  return [...serversByBind.values(), ...retired]
}

function whenIdle(done: () => void): void {
  const check = setInterval(() => {
    if (allServers().some((server) => server.connectionCount > 0)) return
    clearInterval(check)
    done()
  }, 10)
}

function whenServerIdle(server: BindServer<CompiledListener>): void {
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

function post(message: FromWorker): void {
  port.postMessage(message)
}
