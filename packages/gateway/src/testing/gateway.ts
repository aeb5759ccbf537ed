import { randomBytes } from 'node:crypto'
import type { TraceSource } from '../admin/trace.ts'
import { compile, type CompiledConfig, type CompileServices } from '../compile/index.ts'
import { createCredentials } from '../credentials/credentials.ts'
import { applyChange, changeBetween } from '../ir/change.ts'
import type { Ir } from '../ir/resources.ts'
import { Deadlines } from '../net/deadlines.ts'
import { BindServer } from '../net/listener.ts'
import { createExpressions } from '../pipeline/expression.ts'
import type { RequestContext } from '../pipeline/request-context.ts'
import { loadFeatures } from '../compile/load-features.ts'
import { claimPort } from '../process/ports.ts'
import { loadConfig } from '../sources/file.ts'
import { printProblems } from '../sources/print-problems.ts'
import { WorkerCache } from '../state/worker-cache.ts'
import { monotonic } from '../state/monotonic.ts'
import { createTable, SharedTable } from '../state/shared-table.ts'
import { createAccessLog } from '../telemetry/log/access-log.ts'
import type { AccessRecord } from '../telemetry/log/access-record.ts'
import { createHttpDate } from '../telemetry/http-date.ts'
import { parseLogFilter } from '../telemetry/log/log-filter.ts'
import { createLogger, type LogFormat } from '../telemetry/log/logger.ts'
import { Collector } from '../telemetry/metrics/metrics-collect.ts'
import { createRegion, Registry } from '../telemetry/metrics/metrics.ts'
import { createRequestMetrics } from '../telemetry/metrics/request-metrics.ts'
import type { TraceEvent } from '../telemetry/trace/trace-event.ts'
import { TraceHub } from '../telemetry/trace/trace-hub.ts'
import { TraceWatch } from '../telemetry/trace/trace-watch.ts'
import { createTraceSource } from '../process/trace-source.ts'
import { createResolver, type ResolverOptions } from '../upstream/dns.ts'
import { Endpoints } from '../upstream/endpoints.ts'
import type { Eviction } from '../upstream/endpoint-call.ts'
import { Pools } from '../upstream/pools.ts'
import { offersOf } from '../mcp/hub/offers.ts'
import { startHub } from './hub.ts'

/** A gateway in this thread: config to wire, without workers. */
export interface TestGateway {
  /** The port of a bind, by its position in the config. */
  port(index?: number): number
  /** What is over, in order. */
  records: AccessRecord[]
  /** The access log: fewer lines than `records` where the config leaves some out. */
  lines: string[]
  /** Codes of connections and messages that were refused. */
  refusals: string[]
  /** What a scrape gets. */
  metrics(): string
  /** Errors that steps threw. */
  bugs: string[]
  /** Endpoints left out for a while, in order. */
  evictions: Eviction[]
  /** Watches for the next request, as `/debug/trace` does; resolves with all its events. */
  trace(expression?: string): Promise<TraceEvent[]>
  /** Resolves when that many requests are finished. */
  finished(count: number): Promise<void>
  /** Makes another config live, as a reload does. */
  reload(yaml: string): Promise<void>
  drain(): void
  connectionCount(): number
  close(): Promise<void>
}

export interface TestGatewayOptions {
  /** Folder that file names in the config are relative to. */
  dir?: string
  env?: Record<string, string>
  random?: () => number
  /** Wall-clock time in milliseconds. */
  clock?: () => number
  /** Time for what is shared between workers, in milliseconds. */
  monotonic?: () => number
  /** What several gateways count together, as workers of one process do. */
  counters?: SharedArrayBuffer
  /** Of the access log; text when left out. */
  logFormat?: LogFormat
  lookup?: ResolverOptions['lookup']
  /** Asks token endpoints. */
  fetch?: typeof fetch
  /** Seals MCP sessions; gateways with the same one share them. */
  sessionKey?: string
  connectTimeoutMs?: number
  poolIdleTimeoutMs?: number
  /** Other clocks for what may take too long. */
  deadlines?: Deadlines
}

export async function startGateway(yaml: string, options: TestGatewayOptions = {}): Promise<TestGateway> {
  const deadlines = options.deadlines ?? new Deadlines()
  const sessionKey = options.sessionKey ?? randomBytes(32).toString('hex')
  const records: AccessRecord[] = []
  const lines: string[] = []
  const refusals: string[] = []
  const bugs: string[] = []
  const evictions: Eviction[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const filter = parseLogFilter('error')
  if (!filter.ok) throw new Error(filter.problem)
  const logger = createLogger({ filter: filter.value, format: 'text', write: (line) => bugs.push(line) })
  const resolver = createResolver({ family: 'Auto', ...(options.lookup && { lookup: options.lookup }) })
  const pools = new Pools(deadlines, () => ({ opened() {}, closed() {}, connectFailed() {} }))
  const collector = new Collector()
  const region = createRegion()
  collector.attach('0', region)
  const registry = new Registry({ region, announce: (series) => collector.define('0', structuredClone(series)) })
  const writeLine = createAccessLog({
    format: options.logFormat ?? 'text',
    write: (line) => lines.push(line),
    enabled: () => true,
  })
  const hub = new TraceHub()
  const tracer: TraceWatch<RequestContext> = new TraceWatch({
    shared: hub.shared,
    worker: 0,
    compile(source) {
      const expression = createExpressions(services)(source, 'start')
      return (rx) => expression.isTrue(rx)
    },
    post: (message) => hub.received(0, structuredClone(message)),
  })
  hub.born(0, (message) => tracer.take(message))
  const traces = createTraceSource(hub, () => currentIr)
  const shared = {
    random: options.random ?? Math.random,
    counters: new SharedTable(options.counters ?? createTable()),
    kept: new WorkerCache(),
    monotonic: options.monotonic ?? monotonic,
    clock: options.clock ?? Date.now,
    log: logger.child('pipeline'),
  }
  const mcp = startHub(logger.child('mcp'))
  const services: CompileServices = {
    ...shared,
    deadlines,
    sessionKeys: () => [sessionKey],
    resolver,
    pools,
    endpoints: new Endpoints({ ...shared, evicted: (eviction) => evictions.push(eviction) }),
    requestMetrics: createRequestMetrics(registry, (names) => bugs.push(`too many values of ${names.join()}`)),
    callTimer: () => {},
    upstream: {
      connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
      poolIdleTimeoutMs: options.poolIdleTimeoutMs ?? 90_000,
      poolMaxIdle: 1000,
    },
    ticketSecret: randomBytes(32),
    seat: { own: 0, all: 1 },
    now: () => performance.now(),
    identity: { podName: 'test', namespace: 'default', gateway: 'default' },
    httpDate: createHttpDate(),
    accessLog(record, edit) {
      writeLine(record, edit)
      records.push(record)
      for (const waiter of waiting) if (records.length >= waiter.count) waiter.resolve()
    },
    tracer,
    hub: mcp.workers[0]!,
    credentials: createCredentials({
      ...shared,
      environment: options.env ?? {},
      fetch: options.fetch ?? fetch,
    }),
  }
  const servers = new Map<string, BindServer<string>>()
  const ports: number[] = []
  let current: CompiledConfig | null = null
  let currentIr: Ir | null = null

  async function apply(ir: Ir): Promise<void> {
    await loadFeatures(ir)
    const change = currentIr === null ? null : changeBetween(currentIr, ir)
    // As a worker gets it.
    const changed = currentIr === null || change === null ? null : applyChange(currentIr, structuredClone(change))
    const next = compile(changed?.ir ?? ir, services, current === null ? null : { config: current, changed })
    for (const bind of ir.binds) {
      const compiled = next.binds.get(bind.key)!
      const known = servers.get(bind.key)
      if (known !== undefined) {
        known.update(compiled.state, (listener) => compiled.isGone(listener))
        continue
      }
      const claimed = await claimPort({ ...bind, address: '127.0.0.1' })
      if ('problem' in claimed) throw new Error(claimed.problem)
      const server = new BindServer<string>(compiled.state, deadlines, {
        ...quiet,
        refused: (_info, _status, code) => refusals.push(code),
      })
      await server.listen({ port: claimed.port, host: '127.0.0.1', reusePort: false })
      servers.set(bind.key, server)
      ports.push(claimed.port)
    }
    current = next
    currentIr = changed?.ir ?? ir
    mcp.main.offers(offersOf(ir))
  }

  await apply(parse(yaml, options))
  return {
    port: (index = 0) => ports[index]!,
    records,
    lines,
    refusals,
    metrics: () => [...collector.render()].join(''),
    bugs,
    evictions,
    trace: (expression) => watchOne(traces, expression ?? null),
    finished: (count) =>
      records.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    reload: (text) => apply(parse(text, options)),
    drain() {
      for (const server of servers.values()) server.drain()
    },
    connectionCount: () => [...servers.values()].reduce((sum, server) => sum + server.connectionCount, 0),
    async close() {
      for (const server of servers.values()) server.destroy()
      pools.close()
      resolver.close()
      deadlines.close()
      await mcp.main.close()
    },
  }
}

function watchOne(source: TraceSource, expression: string | null): Promise<TraceEvent[]> {
  const problem = expression === null ? null : source.check(expression)
  if (problem !== null) throw new Error(problem)
  const events: TraceEvent[] = []
  return new Promise((resolve) => {
    source.watch(expression, { ready() {}, event: (event) => events.push(event), end: () => resolve(events) })
  })
}

function parse(yaml: string, options: TestGatewayOptions): Ir {
  const loaded = loadConfig(yaml, {
    file: 'test.yaml',
    dir: options.dir ?? process.cwd(),
    env: options.env ?? {},
  })
  if (!loaded.ok) throw new Error(printProblems(loaded.problems))
  return loaded.ir
}

const quiet = { opened() {}, closed() {}, handshake() {} }
