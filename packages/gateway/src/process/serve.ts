import { availableParallelism } from 'node:os'
import type { ConfigSource as AdminConfigSource } from '../admin/config-api.ts'
import type { QuestionSource } from '../admin/questions-api.ts'
import type { RequestsSource } from '../admin/requests.ts'
import { redact } from '../admin/redact.ts'
import { startServers } from '../admin/servers.ts'
import { viewBackends } from './backends-view.ts'
import { banner } from './banner.ts'
import { ConfigEditor } from './config-edit/config-editor.ts'
import { connectionsByBind, whyClosed, whyNoFile } from './config-edit/why-closed.ts'
import { viewConfig } from './config-view.ts'
import { type ConfigSource, QUICK_START } from './config-source.ts'
import { type EditToken, editTokenOf } from './config-edit/edit-token.ts'
import { type TextInMemory, textOfFile } from './held-text.ts'
import { findDoor } from './find-door.ts'
import { onEndSignal } from './end-signals.ts'
import type { MetricsPush, PushConfig } from './metrics-push.ts'
import type { Ir } from '../ir/resources.ts'
import type { Controlled } from './controlled.ts'
import { type ControllerSettings, controllerSettings } from './controller-settings.ts'
import { Gateway } from './gateway.ts'
import { releaseMemoryWhenIdle } from './idle-memory.ts'
import { pagesBeside } from './pages.ts'
import { KnownEndpoints } from './known-endpoints.ts'
import { KeptConfigs } from './kept-configs.ts'
import { KeptRecords } from './kept-records.ts'
import { Reloader } from './reloader.ts'
import { viewRoutes } from './routes-view.ts'
import { shutdown } from './shutdown.ts'
import type { ProcessConfig } from '../sources/config/schema.ts'
import type { LoadedConfig } from '../sources/file.ts'
import { firstProblems, printProblem } from '../sources/print-problems.ts'
import { keyFileOf, loadSessionKeys, type SessionKeys } from './session-keys.ts'
import { Supervisor, type SupervisorOptions } from './supervisor.ts'
import { targetErrors } from './target-errors.ts'
import { identityOf } from './identity.ts'
import type { ProxyIdentity } from '../pipeline/proxy-identity.ts'
import { createMetricsSource } from './metrics-source.ts'
import { createQuestionSource } from './question-source.ts'
import { createRequestsSource, type RequestSourceParts } from './request-source.ts'
import { createTraceSource } from './trace-source.ts'
import { LineWriter } from '../telemetry/log/line-writer.ts'
import { type LogFilter, parseLogFilter } from '../telemetry/log/log-filter.ts'
import { createLogger, type Logger, type RootLogger } from '../telemetry/log/logger.ts'
import { MetricHistory } from '../telemetry/history/metric-history.ts'
import { Collector } from '../telemetry/metrics/metrics-collect.ts'
import type { Delivery } from '../telemetry/otlp/retrying-sender.ts'
import { provideProcessMetrics } from '../telemetry/metrics/runtime-metrics.ts'
import { VERSION } from '../version.ts'

const NOTHING: Ir = { binds: [], listeners: [], routes: [], backends: [], policies: [] }
const OK = 0
const CANNOT_START = 1
const BAD_CONFIG = 2
const CAN_SHARE_PORTS = process.platform === 'linux'

/** Runs the gateway until it is told to end; the promise is the exit code. */
export async function serve(source: ConfigSource): Promise<number> {
  // Apart from this function, which goes on for as long as the gateway runs and would hold all of the loaded config.
  const program = await start(source)
  return typeof program === 'number' ? program : program.untilEnd()
}

/** Brings the gateway up, or gives the exit code. */
async function start(source: ConfigSource): Promise<Program | number> {
  const { path, memory = null } = source
  const reloader = path === null && memory === null ? null : new Reloader(source)
  const loaded = await source.load()
  if (!loaded.ok) return refuse(BAD_CONFIG, firstProblems(loaded.problems).join('\n'))
  reloader?.watch(loaded)
  const filter = parseLogFilter(loaded.process.logging.level)
  if (!filter.ok) return refuse(BAD_CONFIG, filter.problem)
  const identity = identityOf(process.env, loaded.gateway)
  const controller = controllerSettings(process.env, identity)
  if (controller !== null && 'problems' in controller) return refuse(BAD_CONFIG, controller.problems.join('\n'))
  if (controller !== null && loaded.endpoints !== undefined) return refuse(BAD_CONFIG, NO_MANIFESTS)
  const place = { path: path ?? '', memory, name: source.name, isManifests: loaded.text === undefined }
  const program = new Program(loaded.process, filter.value, { reloader, identity, controller, ...place })
  return (await program.start(loaded, source)) ?? program
}

const NO_MANIFESTS = 'CONTROLLER_ADDR: found manifests to run beside it, expected a config file or none'

interface ProgramParts {
  reloader: Reloader | null
  identity: ProxyIdentity
  controller: ControllerSettings | null
  /** Of the config file; empty without one. */
  path: string
  /** Stands in for a file. */
  memory: TextInMemory | null
  /** As messages have it. */
  name: string
  isManifests: boolean
}

/** The main thread of a gateway. Of its config it keeps what the process itself needs. */
class Program {
  readonly #settings: ProcessConfig
  readonly #reloader: Reloader | null
  readonly #writer = new LineWriter()
  readonly #logger: RootLogger
  readonly #log: Logger
  readonly #collector = new Collector()
  readonly #history = new MetricHistory(this.#collector)
  readonly #supervisor: Supervisor
  readonly #gateway: Gateway
  readonly #controller: ControllerSettings | null
  readonly #sessionKeys: () => SessionKeys
  #controlled: Controlled | null = null
  readonly #ended = Promise.withResolvers<void>()
  #closeServers: () => Promise<void> = () => Promise.resolve()
  #isDraining = false
  readonly #configs = new KeptConfigs()
  readonly #identity: ProxyIdentity
  readonly #kept: KeptRecords
  readonly #path: string
  readonly #memory: TextInMemory | null
  readonly #editToken: EditToken | null
  readonly #editor: ConfigEditor
  readonly #startedAt = Date.now()
  readonly #pages = pagesBeside(import.meta.url)
  /** From the first config on that sends metrics elsewhere. */
  #push: Promise<MetricsPush> | null = null

  constructor(settings: ProcessConfig, filter: LogFilter, parts: ProgramParts) {
    const { reloader, identity, controller, path, memory } = parts
    this.#settings = settings
    this.#controller = controller
    this.#identity = identity
    this.#path = path
    this.#memory = memory
    this.#editToken = editTokenOf(process.env['ADMIN_TOKEN'], memory !== null && process.stderr.isTTY)
    this.#reloader = reloader
    this.#logger = createLogger({ filter, format: settings.logging.format, write: this.#writer.write })
    this.#log = this.#logger.child('main')
    const [log, collector] = [this.#log, this.#collector]
    const workers = settings.workers === 'auto' ? availableParallelism() : settings.workers
    this.#supervisor = new Supervisor({
      // Where ports cannot be shared there is one to have them all.
      workers: CAN_SHARE_PORTS ? workers : 1,
      entry: new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : '../worker.js', import.meta.url),
      log,
      mcpLog: this.#logger.child('mcp'),
      collector,
      settings: workerSettings(settings, identity, filter.text),
    })
    this.#kept = new KeptRecords(this.#supervisor.records, path, log)
    const sessionKeys = (): SessionKeys => sessionKeysOf(settings, path, log)
    this.#sessionKeys = sessionKeys
    this.#gateway = new Gateway({
      supervisor: this.#supervisor,
      log,
      collector,
      ipv6: settings.enableIpv6,
      sessionKeys,
      wentLive: (ir) => {
        this.#pushMetrics(ir)
        this.#kept.use(ir)
      },
    })
    this.#editor = this.#makeEditor(parts)
  }

  #makeEditor({ reloader, controller, path, memory, name, isManifests }: ProgramParts): ConfigEditor {
    const source = { path, isInMemory: memory !== null, isManifests, isControlled: controller !== null }
    return new ConfigEditor({
      path,
      text: memory ?? textOfFile(path),
      name: memory === null ? name : QUICK_START,
      reloader,
      gateway: this.#gateway,
      history: this.#configs,
      workers: this.#supervisor.workers,
      connectionsOf: (bind) => connectionsByBind(this.#collector).get(bind) ?? 0,
      noFile: () => whyNoFile(source),
      closed: () => whyClosed({ isAllowed: this.#settings.ui.edit, hasToken: this.#editToken !== null }),
      log: this.#log,
    })
  }

  /** Null when it runs, else the exit code. */
  async start(loaded: LoadedConfig, { name, guide }: ConfigSource): Promise<number | null> {
    const { ir, warnings, explain, endpoints } = loaded
    for (const warning of warnings) this.#log.warn(printProblem(warning))
    provideProcessMetrics(this.#collector, VERSION)
    // They load their code while the config is checked and the servers for operators start.
    const starting = this.#supervisor.start()
    if (endpoints !== undefined) this.#gateway.services.takeAll(Object.entries(endpoints))
    const faults = [...(await this.#prepareControlled(ir, name)), ...(await this.#gateway.check(ir, explain))]
    if (faults.length > 0) return this.#giveUp(BAD_CONFIG, faults)
    const servers = await startServers(this.#adminOptions())
    if (!servers.ok) return this.#giveUp(CANNOT_START, servers.problems)
    const { addresses } = servers.value
    this.#closeServers = () => servers.value.close()
    const problems = (await starting) ?? (await this.#gateway.open(ir))
    if (problems.length > 0) return this.#giveUp(CANNOT_START, problems)
    this.#keepText(loaded)
    this.#listenToSignals()
    this.#history.start()
    const { ports } = this.#gateway
    process.stderr.write(banner(`Portico ${VERSION}`, name, { ir, ports, addresses, guide, token: this.#printed }))
    if (this.#reloader !== null) this.#reloader.wentLive = (next) => this.#keepText(next)
    this.#reloader?.start(this.#controlled?.file ?? this.#gateway, this.#log)
    void this.#controlled?.start()
    return null
  }

  /** A token of the environment is known to those who set it. */
  get #printed(): string | null {
    return this.#editToken?.from === 'terminal' ? this.#editToken.token : null
  }

  #keepText({ text }: LoadedConfig): void {
    if (text !== undefined) this.#configs.keep(this.#gateway.generation, text)
  }

  /** The config that decided a request; where it is not kept, the one that is live. */
  #explained(generation: number): ReturnType<RequestSourceParts['explained']> {
    const { generation: live, ir } = this.#gateway
    const kept = this.#controlled === null ? this.#configs : null
    for (const each of [generation, live]) {
      const found = kept?.find(each) ?? null
      if (found !== null) return { generation: each, live, ...found }
    }
    return { generation: live, live, ir: ir ?? NOTHING, locate: null }
  }

  /** A data plane of a controller; what it takes for that others do not load. Gives what is wrong, if anything is. */
  async #prepareControlled(ir: Ir, name: string): Promise<string[]> {
    const settings = this.#controller
    if (settings === null) return []
    const found: SessionKeys = settings.stateFolder === null ? { keys: [] } : this.#sessionKeys()
    if ('problem' in found) return [found.problem]
    const { Controlled } = await import('./controlled.ts')
    this.#controlled = new Controlled({
      settings,
      gateway: this.#gateway,
      file: { ir, name },
      sessionKeys: found.keys,
      collector: this.#collector,
      log: this.#logger.child('controller'),
    })
    return []
  }

  async #giveUp(code: number, problems: readonly string[]): Promise<number> {
    await Promise.all([this.#supervisor.stop(), this.#closeServers()])
    await this.#writer.flush()
    return refuse(code, firstProblems(problems).join('\n'))
  }

  async untilEnd(): Promise<number> {
    releaseMemoryWhenIdle()
    await this.#ended.promise
    this.#isDraining = true
    this.#reloader?.close()
    this.#controlled?.hold()
    this.#log.info('draining')
    const { connectionMinTerminationDeadline: minMs, connectionTerminationDeadline: maxMs } = this.#settings
    const push = this.#push
    const last = push === null ? null : async () => (await push).end()
    await shutdown(this.#supervisor, { minMs, maxMs, last })
    this.#pages.close()
    this.#history.stop()
    await Promise.all([this.#closeServers(), this.#controlled?.close()])
    this.#kept.close()
    this.#log.info('stopped')
    await this.#writer.flush()
    return OK
  }

  #pushMetrics(ir: Ir): void {
    const config = pushedMetrics(ir)
    if (config === null && this.#push === null) return
    this.#push ??= import('./metrics-push.ts').then(({ MetricsPush }) => {
      const deliver = (request: Buffer): Promise<Delivery> => this.#supervisor.deliver(request)
      return new MetricsPush({ collector: this.#collector, deliver, log: this.#logger.child('otlp') })
    })
    void this.#push.then((push) => push.use(config))
  }

  #adminOptions(): Parameters<typeof startServers>[0] {
    const settings = this.#settings
    const gateway = this.#gateway
    const requests = createRequestsSource({
      store: this.#supervisor.records,
      disk: () => this.#kept.disk,
      identity: this.#identity,
      currentIr: () => gateway.ir,
      state: () => this.#state(),
      explained: (generation) => this.#explained(generation),
    })
    return {
      addresses: { admin: settings.adminAddr, stats: settings.statsAddr, readiness: settings.readinessAddr },
      adminToken: process.env['ADMIN_TOKEN'] ?? null,
      editToken: this.#editToken?.token ?? null,
      metrics: (form) => this.#collector.render(form),
      readiness: () => ({ draining: this.#isDraining, pending: this.#pending() }),
      configDump: () =>
        redact({
          version: VERSION,
          generation: gateway.generation,
          config: settings,
          ...(this.#controlled !== null && { controller: this.#controlled.describe() }),
          ...gateway.ir,
        }),
      logFilter: () => this.#logger.filter().text,
      setLogFilter: (text) => this.#setLogFilter(text),
      trace: createTraceSource(this.#supervisor.traces, () => gateway.ir),
      requests,
      config: this.#configSource(),
      questions: this.#questions(requests),
      history: createMetricsSource(this.#history, this.#supervisor.records),
      quit: () => this.#ended.resolve(),
      pages: this.#pages,
    }
  }

  #configSource(): AdminConfigSource {
    const gateway = this.#gateway
    const ir = (): Ir => gateway.ir ?? NOTHING
    return {
      routes: () => viewRoutes(ir(), gateway.generation, gateway.ports),
      door: (bind, listener) => findDoor(ir(), gateway.ports, bind, listener),
      backends: async () => {
        const endpoints = new KnownEndpoints(await this.#supervisor.endpoints(), Date.now())
        const errorOf = targetErrors(ir(), this.#supervisor.records)
        return viewBackends(ir(), gateway.generation, { endpoints, errorOf })
      },
      config: () => {
        const { generation, since, problems } = this.#state()
        const { closed } = this.#editor
        return viewConfig({
          ...{ generation, since, file: this.#path, memory: this.#memory },
          problems: problems.map(({ text }) => text),
          edit: { isAllowed: closed === null, reason: closed, token: this.#editToken?.from ?? 'variable' },
          versionOf: (text) => this.#editor.versionOf(text),
        })
      },
      edits: this.#editor,
    }
  }

  #questions(requests: RequestsSource): QuestionSource {
    const gateway = this.#gateway
    return createQuestionSource({
      live: () => ({ ir: gateway.ir ?? NOTHING, generation: gateway.generation, ports: gateway.ports }),
      record: (id) => requests.get(id),
      identity: this.#identity,
    })
  }

  #state(): ReturnType<RequestSourceParts['state']> {
    return {
      version: VERSION,
      generation: this.#gateway.generation,
      since: this.#gateway.since,
      startedAt: this.#startedAt,
      source: this.#path,
      problems: firstProblems(this.#gateway.problems).map((problem) => ({ text: String(redact(problem)) })),
      workers: this.#supervisor.size,
      restarts: this.#supervisor.restarts,
      isDraining: this.#isDraining,
    }
  }

  /** What readiness waits for. */
  #pending(): string[] {
    if (this.#gateway.generation === 0) return ['config']
    return this.#controlled?.isLive === false ? ['controller'] : []
  }

  #setLogFilter(text: string): string | null {
    const parsed = parseLogFilter(text)
    if (!parsed.ok) return parsed.problem
    this.#logger.setFilter(parsed.value)
    this.#supervisor.setLogFilter(text)
    return null
  }

  #listenToSignals(): void {
    onEndSignal(process, (times) => {
      if (times === 1 && !this.#isDraining) return this.#ended.resolve()
      // Whoever asks twice does not want to wait.
      this.#writer.flushSync()
      process.exit(OK)
    })
    // With nothing to read again, it means what it means to every program: the terminal is gone.
    if (this.#path !== '') process.on('SIGHUP', () => this.#reloader?.reload())
  }
}

/** Where the config sends metrics, and how often. Of several policies the last that speaks of metrics counts. */
function pushedMetrics({ policies, backends }: Ir): PushConfig | null {
  const isMeant = ({ target, frontend }: Ir['policies'][number]): boolean =>
    target.kind === 'gateway' && frontend?.metrics !== undefined
  const otlp = policies.findLast(isMeant)?.frontend?.metrics?.otlp
  if (otlp === undefined) return null
  const key = otlp.backendRef.name ?? otlp.backendRef.host
  return { intervalMs: otlp.interval, to: backends.find((backend) => backend.key === key)?.name ?? '' }
}

function workerSettings(
  settings: ProcessConfig,
  identity: ProxyIdentity,
  logFilter: string,
): SupervisorOptions['settings'] {
  return {
    logFilter,
    logFormat: settings.logging.format,
    identity,
    lookupFamily: settings.enableIpv6 ? settings.dns.lookupFamily : 'V4Only',
    upstream: {
      connectTimeoutMs: settings.backend.connectTimeout,
      poolIdleTimeoutMs: settings.backend.poolIdleTimeout,
      poolMaxIdle: settings.backend.poolMaxSize ?? Number.MAX_SAFE_INTEGER,
    },
    reusePort: CAN_SHARE_PORTS,
  }
}

function sessionKeysOf(settings: ProcessConfig, config: string, log: Logger): SessionKeys {
  const keyFile = keyFileOf(settings, config)
  return loadSessionKeys({ environment: process.env, keyFile, warn: (message) => log.warn(message) })
}

function refuse(code: number, text: string): number {
  process.stderr.write(text.trimEnd() + '\n')
  return code
}
