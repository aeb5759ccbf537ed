import { randomBytes } from 'node:crypto'
import type { TraceSource } from '../admin/trace.ts'
import { compile, type CompiledConfig, type CompileServices } from '../compile/index.ts'
import type { CompiledBind } from '../compile/bind.ts'
import type { CompiledUdpBind } from '../compile/udp-bind.ts'
import { createCredentials } from '../credentials/credentials.ts'
import { applyChange, changeBetween } from '../ir/change.ts'
import { irOfText, textOfIr } from '../ir/ir-text.ts'
import type { Ir } from '../ir/resources.ts'
import type { MeshIdentity } from '../mesh/identity.ts'
import { meshMember } from '../mesh/mesh-member.ts'
import { ReceivedIdentity } from '../mesh/received-identity.ts'
import { Deadlines, Hops } from '@portico/http'
import { describeFault, onFault } from '@portico/http/faults'
import { BindServer, HandshakePasses } from '@portico/http/server'
import { CLOSING } from '../pipeline/compiled/containment.ts'
import { createExpressions } from '../pipeline/expression/expression.ts'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import { ShapeKeepalive } from '../pipeline/run/shape-keepalive.ts'
import { loadFeatures } from '../compile/load-features.ts'
import { exportOrigin } from '../process/telemetry/export-origin.ts'
import { claimPort } from '../process/config/ports.ts'
import { recorderSizes } from '../process/telemetry/recorder-sizes.ts'
import { loadConfig } from '../sources/file.ts'
import { printProblems } from '../sources/print-problems.ts'
import { WorkerCache } from '../state/worker-cache.ts'
import { monotonic, createHttpDate } from '../state/clock.ts'
import { KeptTables, type KeyedTables } from '../state/keyed-tables.ts'
import type { AnswerStore } from '../stores/answers/answer-store.ts'
import type { BudgetStore } from '../stores/budgets/budget-store.ts'
import { createTable, SharedTable } from '../state/shared-table.ts'
import { createAccessLog } from '../telemetry/log/access-log.ts'
import type { AccessRecord } from '../telemetry/log/access-record.ts'
import { parseLogFilter } from '../telemetry/log/log-filter.ts'
import { createLogger, type LogFormat, type Logger } from '../telemetry/log/logger.ts'
import { Collector, type TextForm } from '../telemetry/metrics/metrics-collect.ts'
import { createRegion, Registry, type SeriesDefinition } from '../telemetry/metrics/metrics.ts'
import { createCalloutMetrics } from '../telemetry/metrics/callout-metrics.ts'
import { createDatagramMetrics } from '../telemetry/metrics/datagram-metrics.ts'
import { Exemplars } from '../telemetry/metrics/exemplars.ts'
import { createRehearsalMetrics } from '../telemetry/metrics/rehearsal-metrics.ts'
import { createShadowMetrics } from '../telemetry/metrics/shadow-metrics.ts'
import { createLimitMetrics } from '../telemetry/metrics/limit-metrics.ts'
import { createCacheMetrics } from '../telemetry/metrics/cache-metrics.ts'
import { createPickMetrics } from '../telemetry/metrics/pick-metrics.ts'
import { createExportCounts } from '../telemetry/otlp/export-metrics.ts'
import type { Exporter } from '../telemetry/otlp/exporter.ts'
import { exportLimits, type ExportLimits } from '../telemetry/otlp/export-limits.ts'
import {
  createActiveRequests,
  createCallTimer,
  createRequestMetrics,
  type RequestMetrics,
} from '../telemetry/metrics/request-metrics.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import { RecordStore } from '../telemetry/recorder/record-store.ts'
import { Recorder } from '../telemetry/recorder/recorder.ts'
import type { TraceEvent } from '../telemetry/trace/trace-event.ts'
import { TraceHub } from '../telemetry/trace/trace-hub.ts'
import { TraceWatch } from '../telemetry/trace/trace-watch.ts'
import { createTraceSource } from '../process/admin/trace-source.ts'
import {
  createAddressGuard,
  createResolver,
  Endpoints,
  type EndpointsChange,
  type Eviction,
  Pools,
  type Resolver,
  type ResolverOptions,
  Hbone,
  ServiceAddresses,
} from '@portico/http/client'
import { type CacheCommand, type CacheCommandAnswer, runCacheCommand } from '../cache/cache-command.ts'
import { offersOf } from '../compile/offers.ts'
import { startHub } from './hub.ts'

export interface TestGatewayOptions {
  /** The identity in the mesh; without it, there is no certificate. */
  mesh?: MeshIdentity
  /** The port of HBONE on the workloads of Services. */
  hbonePort?: number
  /** Folder that file names in the config are relative to. */
  dir?: string
  env?: Record<string, string>
  random?: () => number
  podName?: string
  /** Wall-clock time in milliseconds. */
  clock?: () => number
  /** The clock of state that workers share, in milliseconds. */
  monotonic?: () => number
  /** Counters that several gateways share, as workers of one process do. */
  counters?: SharedArrayBuffer
  /** Budgets by key that several gateways share. */
  tables?: KeyedTables
  /** Budgets that several gateways share. */
  budgets?: BudgetStore
  /** Answers of models that several gateways share. */
  answers?: AnswerStore
  /** The format of the access log; text when left out. */
  logFormat?: LogFormat
  lookup?: ResolverOptions['lookup']
  /** Calls token endpoints. */
  fetch?: typeof fetch
  /** Seals MCP sessions; gateways with the same one share them. */
  sessionKey?: string
  connectTimeoutMs?: number
  poolIdleTimeoutMs?: number
  /** Limits of the exports to an OTLP collector. */
  exportLimits?: Partial<ExportLimits>
  /** Creates the feed of the ledger. */
  ledger?: (recorder: Recorder, deadlines: Deadlines) => CompileServices['ledger']
  /** The timers of time limits. */
  deadlines?: Deadlines
}

/**
 * Sizes of a test's gateway. The product's memory for metrics, counters and endpoints takes milliseconds of each start, and
 * tests start thousands of gateways.
 */
const REGION_BYTES = 1024 * 1024
const COUNTERS = 4_096
const ENDPOINTS = 1_024
const NAMES = 64

export async function startGateway(yaml: string, options: TestGatewayOptions = {}): Promise<TestGateway> {
  const gateway = new TestGateway(options)
  try {
    await gateway.reload(yaml)
  } catch (error) {
    await gateway.close()
    throw error
  }
  return gateway
}

/** A gateway in this thread: config to wire, without workers. */
export class TestGateway {
  /** The finished requests, in order. */
  readonly records: AccessRecord[] = []
  /** The lines of the access log; fewer than `records` when the config filters some out. */
  readonly lines: string[] = []
  /** Codes of connections and messages that were refused. */
  readonly refusals: string[] = []
  /** Errors that steps threw. */
  readonly bugs: string[] = []
  /** Lines of the log at `warn`. */
  readonly warnings: string[] = []
  /** Endpoints left out for a while, in order. */
  readonly evictions: Eviction[] = []
  /** Calls on each connection that was closed because pings were not answered. */
  readonly silences: number[] = []
  /** Exporters that have unsent data. */
  readonly exporters = new Set<Exporter>()
  /** The records of the recorder. */
  readonly store = new RecordStore()
  readonly #recorder: Recorder
  #generation = 0
  readonly #options: TestGatewayOptions
  readonly #deadlines: Deadlines
  readonly #resolver: Resolver
  readonly #hops = new Hops(randomBytes(8).toString('hex'))
  readonly #pools: Pools
  readonly #mcp: ReturnType<typeof startHub>
  readonly #collector = new Collector()
  readonly #registry: Registry
  readonly #exemplars = new Exemplars((exemplar) => this.#collector.exemplify('0', exemplar))
  readonly #traces: TraceSource
  readonly #services: CompileServices
  readonly #kept = new WorkerCache()
  readonly #servers = new Map<string, TestServer>()
  readonly #streamPorts = new Map<number, BindServer<string>>()
  readonly #ports: number[] = []
  readonly #addresses = new ServiceAddresses()
  readonly #hbone: Hbone
  readonly #mesh: MeshIdentity
  readonly #waiting: { count: number; resolve: () => void }[] = []
  #config: CompiledConfig | null = null
  #ir: Ir | null = null
  readonly #stopFaults: () => void

  constructor(options: TestGatewayOptions) {
    this.#options = options
    this.#stopFaults = onFault((error, scope) => void this.bugs.push(`${scope}: ${describeFault(error)}`))
    this.#recorder = new Recorder(options.clock ?? Date.now)
    this.#deadlines = options.deadlines ?? new Deadlines()
    this.#resolver = createResolver({
      family: 'Auto',
      maxNames: NAMES,
      ...(options.lookup && { lookup: options.lookup }),
    })
    this.#pools = new Pools(this.#deadlines, this.#hops, () => ({
      opened() {},
      closed() {},
      connectFailed() {},
      fellSilent: (_address, calls) => void this.silences.push(calls),
    }))
    const mesh = options.mesh ?? new ReceivedIdentity({ trustDomain: '', additionalTrustDomains: [] }, Date.now)
    const limits = { connectTimeoutMs: 5_000, idleTimeoutMs: 60_000, port: options.hbonePort ?? 0 }
    this.#mesh = mesh
    this.#hbone = new Hbone({ member: meshMember(mesh), pools: this.#pools, ...limits })
    mesh.onChange(() => this.#hbone.certificateChanged())
    const filter = parseLogFilter('warn')
    if (!filter.ok) throw new Error(filter.problem)
    const write = (line: string): void => void (isWarning(line) ? this.warnings : this.bugs).push(line)
    const logger = createLogger({ filter: filter.value, format: 'text', write })
    this.#mcp = startHub(logger.child('mcp'))
    const hub = new TraceHub()
    this.#traces = createTraceSource(hub, () => this.#ir)
    const region = createRegion(REGION_BYTES)
    this.#collector.attach('0', region)
    const announce = (series: SeriesDefinition) => this.#collector.define('0', structuredClone(series))
    this.#registry = new Registry({ region, announce })
    this.#services = this.#createServices(logger.child('pipeline'), hub)
  }

  /** The port of a bind, by its position in the config. */
  port(index = 0): number {
    return this.#ports[index]!
  }

  /** The text of a metrics scrape. */
  metrics(form: TextForm = 'prometheus'): string {
    return [...this.#collector.render(form)].join('')
  }

  /** Watches for the next request, as `/debug/trace` does; resolves with all its events. */
  trace(expression: string | null = null): Promise<TraceEvent[]> {
    return watchOne(this.#traces, expression)
  }

  /** Resolves when that many requests are finished. */
  async finished(count: number): Promise<void> {
    if (this.records.length >= count) return
    await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }))
  }

  /** The recorded requests, newest first. */
  recorded(): RequestRecord[] {
    return this.store.all().flatMap((stored) => stored.decode() ?? [])
  }

  /** Makes another config live, as a reload does. */
  reload(yaml: string): Promise<void> {
    return this.use(parse(yaml, this.#options))
  }

  /** Tells where Services are reached. */
  setEndpoints(change: EndpointsChange): void {
    this.#addresses.take(change)
  }

  async use(ir: Ir): Promise<void> {
    await loadFeatures(ir)
    const before = this.#ir
    const change = before === null ? null : changeBetween(before, ir)
    // As a worker gets it.
    const changed = before === null || change === null ? null : applyChange(before, structuredClone(change))
    const last = this.#config === null ? null : { config: this.#config, changed }
    this.store.resize(recorderSizes(ir))
    this.#recorder.attach(this.store.memoryFor('worker-0'))
    const next = compile(changed?.ir ?? ir, this.#services, last)
    for (const bind of ir.binds) await this.#serve(bind, next)
    this.#config = next
    this.#ir = changed?.ir ?? ir
    const generation = ++this.#generation
    this.#recorder.use(next.recorder === null ? null : { ...next.recorder, generation }, performance.now())
    this.#mcp.main.offers(offersOf(ir))
  }

  drain(quietMs?: number): void {
    for (const server of this.#servers.values()) server.drain(quietMs)
  }

  connectionCount(): number {
    return [...this.#servers.values()].reduce((sum, server) => sum + server.connectionCount, 0)
  }

  async close(): Promise<void> {
    for (const server of this.#servers.values()) server.destroy()
    this.#pools.close()
    this.#resolver.close()
    this.#deadlines.close()
    this.#stopFaults()
    await this.#mcp.main.close()
  }

  async #serve(bind: Ir['binds'][number], { binds }: CompiledConfig): Promise<void> {
    const compiled = binds.get(bind.key)!
    const known = this.#servers.get(bind.key)
    if (known !== undefined) return known.update(compiled)
    const claimed = await claimPort({ ...bind, address: '127.0.0.1' })
    if ('problem' in claimed) throw new Error(claimed.problem)
    const place = { port: claimed.port, host: '127.0.0.1', reusePort: false }
    this.#servers.set(
      bind.key,
      await (compiled.transport === 'udp' ? this.#udp(compiled, place) : this.#tcp(compiled, place)),
    )
    this.#ports.push(claimed.port)
  }

  async #tcp(bind: CompiledBind, place: ListenOptions): Promise<TestServer> {
    const server = new BindServer<string>(bind.state, this.#deadlines, {
      ...quiet,
      refused: (_info, _status, code) => this.refusals.push(code),
      reset: (_info, code) => this.refusals.push(code),
    })
    await server.listen(place)
    this.#streamPorts.set(server.port, server)
    return serverOf(server, (next) => {
      if (next.transport === 'tcp') server.update(next.state, (listener) => next.isGone(listener))
    })
  }

  async #udp(bind: CompiledUdpBind, place: ListenOptions): Promise<TestServer> {
    const server = bind.createServer(bind.state, this.#deadlines, {
      ...createDatagramMetrics(this.#registry, bind.labels),
      refused: (_info, code) => void this.refusals.push(code),
    })
    await server.listen(place)
    return serverOf(server, (next) => {
      if (next.transport === 'udp') server.update(next.state)
    })
  }

  /** Sends a question about response caches, as the main thread does to a worker. */
  caches(command: CacheCommand): Promise<CacheCommandAnswer> {
    return runCacheCommand(command, { kept: this.#kept, answers: this.#options.answers ?? null })
  }

  #createServices(log: Logger, hub: TraceHub): CompileServices {
    const options = this.#options
    const sessionKey = options.sessionKey ?? randomBytes(32).toString('hex')
    const shared = {
      random: options.random ?? Math.random,
      counters: new SharedTable(options.counters ?? createTable(COUNTERS)),
      tables: options.tables ?? new KeptTables(),
      budgets: options.budgets ?? null,
      answers: options.answers ?? null,
      kept: this.#kept,
      monotonic: options.monotonic ?? monotonic,
      clock: options.clock ?? Date.now,
      log,
    }
    return {
      ...shared,
      deadlines: this.#deadlines,
      sessionKeys: () => [sessionKey],
      resolver: this.#resolver,
      addressGuard: createAddressGuard,
      hops: this.#hops,
      handshakes: new HandshakePasses(),
      pools: this.#pools,
      endpoints: new Endpoints({ ...shared, evicted: (eviction) => this.evictions.push(eviction) }, ENDPOINTS),
      addresses: this.#addresses,
      hbone: this.#hbone,
      mesh: this.#mesh,
      streamPort: (port) => this.#streamPorts.get(port) ?? null,
      requestMetrics: this.#requestMetrics(),
      callTimer: createCallTimer(this.#registry, ['Primary', 'Http'], this.#exemplars),
      countActive: createActiveRequests(this.#registry),
      ledger: options.ledger?.(this.#recorder, this.#deadlines) ?? null,
      callouts: createCalloutMetrics(this.#registry, this.#exemplars),
      keyWithoutRoom: createLimitMetrics(this.#registry),
      rehearsed: createRehearsalMetrics(this.#registry),
      countShadow: createShadowMetrics(this.#registry),
      picks: createPickMetrics(this.#registry),
      answerCounts: createCacheMetrics(this.#registry),
      upstream: {
        connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
        poolIdleTimeoutMs: options.poolIdleTimeoutMs ?? 90_000,
        poolMaxIdle: 1000,
      },
      ticketSecret: randomBytes(32),
      seat: { own: 0, all: 1 },
      containment: CLOSING,
      now: () => performance.now(),
      identity: { podName: options.podName ?? 'test', namespace: 'default', gateway: 'default' },
      httpDate: createHttpDate(options.clock),
      accessLog: this.#accessLog(),
      recorder: this.#recorder,
      exports: {
        origin: () => exportOrigin(options.env ?? {}),
        counts: createExportCounts(this.#registry),
        limits: { ...exportLimits, delayMs: 20, firstPauseMs: 20, ...options.exportLimits },
        log,
        busy: this.exporters,
      },
      tracer: this.#tracer(hub),
      shapeKeepalive: new ShapeKeepalive(),
      hub: this.#mcp.workers[0]!,
      credentials: createCredentials({
        ...shared,
        environment: options.env ?? {},
        fetch: options.fetch ?? fetch,
      }),
    }
  }

  #requestMetrics(): RequestMetrics {
    return createRequestMetrics(
      this.#registry,
      (names) => this.bugs.push(`too many values of ${names.join()}`),
      this.#exemplars,
    )
  }

  #accessLog(): CompileServices['accessLog'] {
    const writeLine = createAccessLog({
      format: this.#options.logFormat ?? 'text',
      gateway: 'default/default',
      write: (line) => this.lines.push(line),
      log: { enabled: () => true },
    })
    return (record, edit) => {
      writeLine(record, edit)
      this.records.push(record)
      for (const { count, resolve } of this.#waiting) if (this.records.length >= count) resolve()
    }
  }

  #tracer(hub: TraceHub): TraceWatch<RequestContext> {
    const tracer = new TraceWatch<RequestContext>({
      shared: hub.shared,
      worker: 0,
      compile: (source) => {
        const expression = createExpressions(this.#services)(source, 'start')
        return (rx) => expression.isTrue(rx)
      },
      post: (message) => hub.received(0, structuredClone(message)),
    })
    hub.born(0, (message) => tracer.take(message))
    return tracer
  }
}

type ListenOptions = Parameters<BindServer<string>['listen']>[0]

/** A server of TCP or UDP. */
interface TestServer extends Pick<BindServer<string>, 'drain' | 'destroy'> {
  readonly connectionCount: number
  update(bind: CompiledBind | CompiledUdpBind): void
}

function serverOf(
  server: Pick<BindServer<string>, 'drain' | 'destroy' | 'connectionCount'>,
  update: TestServer['update'],
): TestServer {
  return {
    update,
    drain: (quietMs) => server.drain(quietMs),
    destroy: () => server.destroy(),
    get connectionCount() {
      return server.connectionCount
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
  // As workers get it.
  return irOfText(textOfIr(loaded.ir))
}

function isWarning(line: string): boolean {
  return line.split('\t')[1] === 'warn'
}

const quiet = { opened() {}, closed() {}, handshake() {} }
