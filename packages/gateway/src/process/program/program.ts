import { dirname, resolve } from 'node:path'
import { AdminCredentials } from '../../admin/credentials.ts'
import { startServers } from '../../admin/servers.ts'
import { banner } from './banner.ts'
import type { BudgetJournal } from '../budgets/budget-journal.ts'
import type { ConfigEditor } from '../config-edit/config-editor.ts'
import { type EditToken, editTokenOf } from '../config-edit/edit-token.ts'
import { type EditedSource, makeEditor } from '../config-edit/make-editor.ts'
import { connectionsByBind, whyClosed } from '../config-edit/why-closed.ts'
import type { ConfigSource } from '../config/config-source.ts'
import type { ControlledGateway } from '../controller/controlled-gateway.ts'
import { onEndSignal } from './end-signals.ts'
import { BAD_CONFIG, CANNOT_START, OK, failWith } from './exit-codes.ts'
import { wireAdminServers } from './admin-wiring.ts'
import { Gateway } from '../config/gateway.ts'
import { releaseMemoryWhenIdle } from '../workers/idle-memory.ts'
import type { Keys } from '../../keys/keys.ts'
import type { KeysWithBudgets } from '../admin/keys-source.ts'
import { newestRecords } from '../admin/request-source.ts'
import type { RequestRecord } from '../../telemetry/recorder/record.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { JournalSettings } from '../../ledger/worker-messages.ts'
import { endStart } from '../workers/start-flags.ts'
import { GenerationHistory } from '../config/config-history.ts'
import { KeptRecords } from '../telemetry/kept-records.ts'
import { pagesBeside } from './pages.ts'
import type { CertificateSource } from '../../mesh/certificate-source.ts'
import { serviceAccountOf } from '../telemetry/identity.ts'
import { PushedMetrics } from '../telemetry/pushed-metrics.ts'
import { keyFileOf, loadSessionKeys, type SessionKeys } from '../config/session-keys.ts'
import { shutdown } from './shutdown.ts'
import { Supervisor } from '../workers/supervisor.ts'
import { workerInThisThread, workerThreads } from '../workers/worker-channel.ts'
import {
  journalSettings,
  postgresSettings,
  redisSettings,
  type WorkerPlan,
  workerSettings,
} from '../workers/worker-settings.ts'
import type { Ir } from '../../ir/resources.ts'
import { ConfigVerifier } from '../verify/config-verifier.ts'
import { Rehearsals } from '../rehearsal/rehearsals.ts'
import type { ProxyIdentity } from '../../pipeline/context/proxy-identity.ts'
import type { ProcessConfig } from '../../sources/config/schema.ts'
import type { LoadedConfig } from '../../sources/file.ts'
import { firstProblems, printProblem } from '../../sources/print-problems.ts'
import { MetricHistory } from '../../telemetry/history/metric-history.ts'
import { LineWriter } from '../../telemetry/log/line-writer.ts'
import { type LogFilter, parseLogFilter } from '../../telemetry/log/log-filter.ts'
import { createLogger, type Logger, type RootLogger } from '../../telemetry/log/logger.ts'
import { Collector } from '../../telemetry/metrics/metrics-collect.ts'
import { provideProcessMetrics } from '../../telemetry/metrics/runtime-metrics.ts'
import { VERSION } from '../../version.ts'
import { reportFault } from '@portico/http/faults'

interface ProgramParts extends EditedSource {
  identity: ProxyIdentity
  plan: WorkerPlan
}

/** The module that each worker thread runs. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? '../workers/worker.ts' : '../worker.js', import.meta.url)

const settleLater = () => import('../../ledger/settle-again.ts')

/** The main thread of a gateway. It keeps the process settings of the config only. */
export class Program {
  readonly #settings: ProcessConfig
  readonly #parts: ProgramParts
  /** The journals of the ledger, which workers write; null without `config.ledger`. */
  readonly #journalSettings: JournalSettings | null
  readonly #writer = new LineWriter()
  readonly #logger: RootLogger
  readonly #log: Logger
  readonly #collector = new Collector()
  readonly #history = new MetricHistory(this.#collector)
  readonly #supervisor: Supervisor
  readonly #gateway: Gateway
  #controlled: ControlledGateway | null = null
  #mesh: CertificateSource | null = null
  #journal: BudgetJournal | null = null
  #ledger: Ledger | null = null
  #keys: Keys | null = null
  #keysSource: KeysWithBudgets | null = null
  readonly #ended = Promise.withResolvers<void>()
  #closeServers: () => Promise<void> = () => Promise.resolve()
  #isDraining = false
  readonly #configs = new GenerationHistory()
  readonly #kept: KeptRecords
  readonly #rehearsals: Rehearsals
  readonly #verifier: ConfigVerifier
  readonly #startedAt = Date.now()
  readonly #editToken: EditToken | null
  readonly #credentials: AdminCredentials
  readonly #pages = pagesBeside(import.meta.url)
  readonly #pushed: PushedMetrics

  constructor(settings: ProcessConfig, filter: LogFilter, parts: ProgramParts) {
    this.#settings = settings
    this.#parts = parts
    this.#editToken = editTokenOf(process.env['ADMIN_TOKEN'], parts.memory !== null && process.stderr.isTTY)
    this.#credentials = new AdminCredentials(process.env['ADMIN_TOKEN'] ?? null, settings.admin?.tokens)
    this.#logger = createLogger({ filter, format: settings.logging.format, write: this.#writer.write })
    this.#log = this.#logger.child('main')
    this.#journalSettings = journalSettings(settings, parts.path)
    const [log, collector] = [this.#log, this.#collector]
    this.#supervisor = new Supervisor({
      workers: parts.plan.workers,
      startWorker: parts.plan.isOneThread ? workerInThisThread : workerThreads(WORKER),
      log,
      mcpLog: this.#logger.child('mcp'),
      collector,
      ledger: () => this.#ledger,
      settings: workerSettings(settings, parts.identity, {
        logFilter: filter.text,
        isOneThread: parts.plan.isOneThread,
        ledger: this.#journalSettings,
      }),
    })
    this.#kept = new KeptRecords(this.#supervisor.records, parts.path, log)
    this.#pushed = new PushedMetrics({
      collector,
      deliver: (request) => this.#supervisor.deliver(request),
      log: this.#logger.child('otlp'),
    })
    this.#gateway = new Gateway({
      supervisor: this.#supervisor,
      log,
      collector,
      ipv6: settings.enableIpv6,
      sessionKeys: () => this.#sessionKeys(),
      wentLive: (ir) => {
        this.#pushed.use(ir)
        this.#kept.use(ir)
        this.#rehearsals.configChanged()
        if (parts.controller !== null || parts.isManifests) this.#configs.keepWithoutText(this.#gateway.generation, ir)
      },
    })
    this.#verifier = new ConfigVerifier({
      path: parts.path,
      records: (lastMs) => this.#recordsSince(Date.now() - lastMs),
      served: (ir) => this.#gateway.served(ir),
      ...{ collector, log },
    })
    this.#rehearsals = new Rehearsals({
      gateway: this.#gateway,
      repeated: (generation, before) => this.#configs.repeat(generation, before),
      keys: () => this.#keysSource,
      ...{ collector, log },
    })
  }

  /** Starts the gateway; returns null when it runs, else the exit code. */
  async start(loaded: LoadedConfig, { name, guide }: ConfigSource): Promise<number | null> {
    const { reloader } = this.#parts
    const { ir, warnings, explain, endpoints } = loaded
    for (const warning of warnings) this.#log.warn(printProblem(warning))
    provideProcessMetrics(this.#collector, VERSION)
    if (!this.#parts.plan.isOneThread) endStart()
    // Workers load their code while the config is checked and the admin server starts.
    const starting = this.#supervisor.start()
    await this.#startMesh()
    if (endpoints !== undefined) this.#gateway.services.takeAll(Object.entries(endpoints))
    const unusable = await this.#openJournal()
    if (unusable !== null) return this.#giveUp(CANNOT_START, [unusable])
    const faults = [...(await this.#prepareControlled(ir, name)), ...(await this.#gateway.check(ir, explain))]
    if (faults.length > 0) return this.#giveUp(BAD_CONFIG, faults)
    const unverified = await this.#verify(loaded)
    if (unverified.length > 0) return this.#giveUp(BAD_CONFIG, unverified)
    const servers = await this.#startServers()
    if (!servers.ok) return this.#giveUp(CANNOT_START, servers.problems)
    const { addresses } = servers.value
    this.#closeServers = () => servers.value.close()
    const unstarted = await starting
    if (unstarted === null && this.#parts.plan.isOneThread) containFaults()
    const problems = unstarted ?? (await this.#gateway.open(ir))
    endStart()
    if (problems.length > 0) return this.#giveUp(CANNOT_START, problems)
    this.#keepText(loaded)
    this.#listenToSignals()
    this.#history.start()
    const { ports } = this.#gateway
    const attempt = guide === null ? (await import('./try-request.ts')).tryRequest(ir, ports) : null
    const token = this.#printed
    process.stderr.write(banner(`Portico ${VERSION}`, name, { ir, ports, addresses, guide, attempt, token }))
    if (reloader !== null) {
      reloader.wentLive = (next) => this.#useReloaded(next)
      reloader.verify = (next) => this.#verify(next)
    }
    reloader?.start(this.#controlled?.file ?? this.#gateway, this.#log)
    void this.#controlled?.start()
    return null
  }

  /** The token to print: a token of the environment is known already. */
  get #printed(): string | null {
    return this.#editToken?.from === 'terminal' ? this.#editToken.token : null
  }

  #startServers(): ReturnType<typeof startServers> {
    const { path, memory, identity } = this.#parts
    return startServers(
      wireAdminServers({
        settings: this.#settings,
        path,
        memory,
        identity,
        gateway: this.#gateway,
        supervisor: this.#supervisor,
        collector: this.#collector,
        history: this.#history,
        configs: this.#configs,
        kept: this.#kept,
        editor: this.#makeEditor(),
        editToken: this.#editToken,
        credentials: this.#credentials,
        controlled: () => this.#controlled,
        ledger: this.#ledger,
        keys: this.#keys,
        keysSource: this.#keysSource,
        rehearsals: this.#rehearsals,
        verifier: this.#verifier,
        log: this.#log,
        isDraining: () => this.#isDraining,
        startedAt: this.#startedAt,
        logFilter: () => this.#logger.filter().text,
        setLogFilter: (text) => this.#setLogFilter(text),
        quit: () => this.#ended.resolve(),
        pages: this.#pages,
      }),
    )
  }

  /** Returns the reasons to reject a valid config, such as failed tests; empty when the config may go live. */
  async #verify(loaded: LoadedConfig): Promise<string[]> {
    const isControlled = this.#parts.controller !== null && loaded.process.verify !== undefined
    return isControlled ? [NOT_VERIFIABLE] : this.#verifier.verify(loaded, this.#gateway.ir)
  }

  /** Returns the records of requests since a time in milliseconds, the newest first. */
  *#recordsSince(since: number): Iterable<RequestRecord> {
    for (const stored of newestRecords(this.#supervisor.records, this.#kept.disk)) {
      if (stored.at < since) return
      const record = stored.decode()
      if (record !== null) yield record
    }
  }

  get #hasEditToken(): boolean {
    return this.#editToken !== null || this.#credentials.all.some(({ scope }) => scope === 'Write')
  }

  #makeEditor(): ConfigEditor {
    return makeEditor(this.#parts, {
      gateway: this.#gateway,
      history: this.#configs,
      workers: this.#supervisor.workers,
      open: () => this.#supervisor.open(),
      connectionsOf: (bind) => connectionsByBind(this.#collector).get(bind) ?? 0,
      closed: () => whyClosed({ isAllowed: this.#settings.ui.edit, hasToken: this.#hasEditToken }),
      log: this.#log,
    })
  }

  #useReloaded(loaded: LoadedConfig): void {
    this.#keepText(loaded)
    this.#credentials.use(loaded.process.admin?.tokens ?? [])
  }

  #keepText({ text }: LoadedConfig): void {
    if (text !== undefined) this.#configs.keep(this.#gateway.generation, text)
  }

  /** Prepares a data plane of a controller, whose code is loaded only then. Returns problems. */
  async #prepareControlled(ir: Ir, name: string): Promise<string[]> {
    const settings = this.#parts.controller
    if (settings === null) return []
    const found: SessionKeys = settings.stateFolder === null ? { keys: [] } : this.#sessionKeys()
    if ('problem' in found) return [found.problem]
    const { ControlledGateway } = await import('../controller/controlled-gateway.ts')
    this.#controlled = new ControlledGateway({
      settings,
      gateway: this.#gateway,
      supervisor: this.#supervisor,
      file: { ir, name },
      sessionKeys: found.keys,
      collector: this.#collector,
      log: this.#logger.child('controller'),
    })
    return []
  }

  /** Starts to obtain the mesh certificate. The gateway does not wait: what needs no mesh is served at once. */
  async #startMesh(): Promise<void> {
    const { mesh } = this.#settings
    if (mesh === undefined) return
    const { startMesh } = await import('./mesh.ts')
    this.#mesh = startMesh(mesh, {
      configFile: this.#parts.path,
      namespace: this.#parts.identity.namespace,
      serviceAccount: serviceAccountOf(process.env),
      changed: (state) => this.#supervisor.setMesh(state),
      collector: this.#collector,
      log: this.#logger.child('mesh'),
    })
  }

  /** Opens the file of budgets and the ledger, if the config has a state folder; returns why the gateway must not start. */
  async #openJournal(): Promise<string | null> {
    const { stateDir } = this.#settings
    if (stateDir === undefined) return null
    const { BudgetJournal } = await import('../budgets/budget-journal.ts')
    const folder = resolve(dirname(this.#parts.path), stateDir)
    const journal = BudgetJournal.open(folder, this.#log)
    if (typeof journal === 'string') return journal
    const { counters } = this.#supervisor
    await this.#openLedger(journal)
    counters.fillTables((id, table) => journal.fill(id, table))
    journal.start(() => counters.tables)
    this.#journal = journal
    await this.#openKeys(folder)
    return null
  }

  /** Opens the ledger, and brings budgets up to what journals of killed processes have. */
  async #openLedger(budgets: BudgetJournal): Promise<void> {
    const { ledger } = this.#settings
    const journals = this.#journalSettings
    if (ledger === undefined || journals === null) return
    const { Ledger } = await import('../../ledger/ledger.ts')
    const { retention: retentionMs, rollupRetention: rollupRetentionMs } = ledger
    const log = this.#logger.child('ledger')
    const redis = redisSettings(this.#settings)
    const opened = new Ledger(
      {
        ...{ ...journals, retentionMs, rollupRetentionMs, postgres: postgresSettings(this.#settings) },
        settle: redis === null ? null : async (calls) => (await settleLater()).settleAgain(calls, redis, log),
      },
      this.#collector,
      log,
    )
    const dead = opened.deadJournals()
    const isSaved = budgets.settle(dead, opened)
    opened.recover(dead, () => isSaved)
    this.#ledger = opened
  }

  /** Opens the store of keys. The gateway also starts when that fails: the keys of the store are refused then. */
  async #openKeys(folder: string): Promise<void> {
    const { keys } = this.#settings
    if (keys === undefined) return
    const { openKeys } = await import('../../keys/open-keys.ts')
    const { maxKeys, gracePeriod: graceMs } = keys
    const settings = { folder, maxKeys, graceMs, postgres: postgresSettings(this.#settings) }
    this.#keys = openKeys(settings, this.#collector, this.#logger.child('keys'))
    this.#supervisor.counters.useKeys(this.#keys.table)
    await this.#keys.opened
    const { KeysWithBudgets } = await import('../admin/keys-source.ts')
    this.#keysSource = await KeysWithBudgets.open(this.#keys, {
      redis: redisSettings(this.#settings),
      tables: () => this.#supervisor.counters.tables,
      log: this.#logger.child('keys'),
    })
  }

  #sessionKeys(): SessionKeys {
    const keyFile = keyFileOf(this.#settings, this.#parts.path)
    return loadSessionKeys({ environment: process.env, keyFile, warn: (message) => this.#log.warn(message) })
  }

  async #giveUp(code: number, problems: readonly string[]): Promise<number> {
    this.#mesh?.close()
    this.#journal?.close(this.#supervisor.counters.tables)
    const stores = [this.#ledger?.close(), this.#keys?.close(), this.#keysSource?.close()]
    await Promise.all([this.#supervisor.stop(), this.#closeServers(), ...stores])
    await this.#writer.flush()
    return failWith(code, firstProblems(problems).join('\n'))
  }

  async untilEnd(): Promise<number> {
    releaseMemoryWhenIdle()
    await this.#ended.promise
    this.#isDraining = true
    this.#parts.reloader?.close()
    this.#controlled?.hold()
    this.#log.info('draining')
    const { connectionMinTerminationDeadline: minMs, connectionTerminationDeadline: maxMs } = this.#settings
    await shutdown(this.#supervisor, { minMs, maxMs, last: this.#pushed.last })
    this.#mesh?.close()
    this.#pages.close()
    this.#history.stop()
    await Promise.all([this.#closeServers(), this.#controlled?.close()])
    this.#kept.close()
    this.#journal?.save(this.#supervisor.counters.tables)
    await Promise.all([this.#ledger?.close(), this.#keys?.close(), this.#keysSource?.close()])
    this.#journal?.close(this.#supervisor.counters.tables)
    this.#log.info('stopped')
    await this.#writer.flush()
    return OK
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
      // A second signal ends the process at once.
      this.#writer.flushSync()
      process.exit(OK)
    })
    // Without a file to read again, SIGHUP keeps its usual meaning: the terminal is gone.
    if (this.#parts.path !== '') process.on('SIGHUP', () => this.#parts.reloader?.reload())
  }
}

/** Handles exceptions outside of any request, which must not end the only thread with all of its connections. */
function containFaults(): void {
  process.on('uncaughtException', (error: unknown) => reportFault(error, 'worker'))
  process.on('unhandledRejection', (error: unknown) => reportFault(error, 'worker'))
}

const NOT_VERIFIABLE =
  'config.verify: this gateway gets its config from a controller, which has other tests: remove `config.verify`'
