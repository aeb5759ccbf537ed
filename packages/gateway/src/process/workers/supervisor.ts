import { setTimeout as sleep } from 'node:timers/promises'
import type { CacheCommandAnswer } from '../../cache/cache-command.ts'
import type { AnswerSelection } from '../../stores/answers/answer-store.ts'
import type { LedgerMessage } from '../../ledger/worker-messages.ts'
import { MainHub } from '../../mcp/hub/main-hub.ts'
import type { MeshState } from '../../mesh/received-identity.ts'
import { offersOf } from '../../compile/offers.ts'
import { processContents } from '../../compile/stdio-processes.ts'
import type { WorkerSettings } from './messages.ts'
import { workerIndexCount } from '../../state/connection-count.ts'
import { Reservations } from '../../state/reservations.ts'
import { createTable, SharedTable } from '../../state/shared-table.ts'
import { type IrText, textOfIr } from '../../ir/ir-text.ts'
import type { Ir } from '../../ir/resources.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { Collector } from '../../telemetry/metrics/metrics-collect.ts'
import type { Delivery } from '../../telemetry/otlp/retrying-sender.ts'
import { createRegion } from '../../telemetry/metrics/metrics.ts'
import { RecordStore } from '../../telemetry/recorder/record-store.ts'
import { TraceHub } from '../../telemetry/trace/trace-hub.ts'
import { systemRandom } from '../../state/system-random.ts'
import { type EndpointsChange, type NamedState, ServiceAddresses } from '@portico/http/client'
import { recorderSizes } from '../telemetry/recorder-sizes.ts'
import type { StartWorker } from './worker-channel.ts'
import { type LiveConfig, WorkerHandle } from './worker-handle.ts'

/** The ledger as the supervisor knows it. */
interface LedgerIntake {
  receive(worker: number, message: LedgerMessage): void
  workerEnded(worker: number): void
}

export interface SupervisorOptions {
  workers: number
  startWorker: StartWorker
  settings: Omit<
    WorkerSettings,
    'number' | 'name' | 'seat' | 'region' | 'counters' | 'traces' | 'ticketSecret' | 'instance'
  >
  log: Logger
  /** The log of programs behind MCP backends: their output and their exits. */
  mcpLog: Logger
  collector: Collector
  /** Returns the ledger, which takes entries from workers; null without `config.ledger`. */
  ledger: () => LedgerIntake | null
}

/** A worker that takes longer to apply a config is logged as late. */
const LATE_MS = 2_000
/** A config that no worker serves after this time is rejected. */
const SERVED_MS = 10_000
const SERVED_LOOK_MS = 20
/** The time that a replaced worker gets to finish its requests. */
const RETIRE_MS = 30_000
/** Idle connections of such a worker are closed after this time without a request. */
const RETIRE_QUIET_MS = 1_000

const ONE_THREAD_FAULT = 'the gateway had an internal error and cannot replace its only thread'

/** Runs the workers: sends each the config, replaces a worker that dies, and stops them in order. */
export class Supervisor {
  /** The trace watchers of all workers. */
  readonly traces = new TraceHub()
  /** The request records of all workers. */
  readonly records = new RecordStore()
  readonly #mcp: MainHub
  readonly #table = createTable()
  /** The counters that all workers share; they outlive each worker. */
  readonly counters = new Reservations(new SharedTable(this.#table))
  readonly #options: SupervisorOptions
  readonly #ticketSecret = systemRandom(32)
  readonly #instance = systemRandom(8).toString('hex')
  readonly #handles = new Set<WorkerHandle>()
  /** Workers that were replaced after an internal error and still finish their requests. */
  readonly #retiring = new Set<WorkerHandle>()
  /** Workers that wait for their replacement. */
  readonly #faulted = new Set<WorkerHandle>()
  #isReplacing = false
  /** Why the last worker died. */
  #lastCause = 'no worker accepted it in time'
  #listeningChanged: () => void = () => undefined
  readonly #seats = new Set<number>()
  /** The addresses of all Services, for workers that start later. */
  readonly #addresses = new ServiceAddresses()
  /** The newest state of the mesh certificate, for workers that start later. */
  #mesh: MeshState | null = null
  #config: LiveConfig | null = null
  #logFilter: string
  #born = 0
  #restarts = 0
  #recentDeaths: number[] = []
  /** How long idle connections may stay while the workers drain; null before that. */
  #drainQuietMs: number | null = null
  #stopping = false

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#logFilter = options.settings.logFilter
    this.#mcp = new MainHub({ log: options.mcpLog, clock: Date.now })
    options.collector.provide('worker_restarts_total', [], () => this.#restarts)
  }

  /** Starts the workers; resolves with null when each is ready for a config, else with the error. */
  async start(): Promise<string[] | null> {
    const started = await Promise.all(Array.from({ length: this.#options.workers }, () => this.#spawn().online))
    const problems = started.filter((problem) => problem !== null)
    return problems.length === 0 ? null : [`workers do not start: ${problems[0]}`]
  }

  /** Makes a config live in every worker, or in none; resolves with the error, or null. */
  async apply(config: LiveConfig): Promise<string | null> {
    const before = this.#config
    // Workers that start from now on get this config first.
    this.#config = config
    const error = (await this.#applyToAll(config)) ?? (await this.#whyUnserved(config))
    if (error === null) {
      void this.#mcp.keepProcesses(processContents(config.ir))
      this.#mcp.offers(offersOf(config.ir))
      return null
    }
    this.#config = before
    if (before !== null) await this.#applyToAll(before)
    return error
  }

  /**
   * Returns null when a worker serves the config, else the reason why none does. A worker that dies while it applies a
   * config has not rejected it, and its successor gets the config; when all die of it, the config is rejected.
   */
  async #whyUnserved({ generation, ir }: LiveConfig): Promise<string | null> {
    const isServed = (): boolean => [...this.#handles].some((handle) => handle.serves(generation))
    const until = performance.now() + SERVED_MS
    while (ir.binds.length > 0 && !this.#stopping && !isServed()) {
      if (performance.now() > until) return `no worker serves config ${generation}: ${this.#lastCause}`
      await sleep(SERVED_LOOK_MS)
    }
    return null
  }

  /** Whether every port of the live config is listened on. A worker listens on all of them, or on none. */
  get isListening(): boolean {
    if (this.#config === null) return false
    return this.#config.ir.binds.length === 0 || [...this.#handles].some(({ isListening }) => isListening)
  }

  /** Sets the function to call whenever a worker starts to listen or dies. */
  watchListening(watcher: () => void): void {
    this.#listeningChanged = watcher
  }

  /** The names of workers that do not answer within this time. */
  async silentWorkers(withinMs: number): Promise<string[]> {
    const asked = [...this.#handles].map(async (handle) => ((await handle.answers(withinMs)) ? [] : [handle.name]))
    return (await Promise.all(asked)).flat()
  }

  /** The configured number of workers. */
  get workers(): number {
    return this.#options.workers
  }

  /** Sends new addresses of Services to the workers, without a new config. */
  setEndpoints(change: EndpointsChange): void {
    this.#addresses.take(change)
    for (const handle of this.#all()) handle.post({ type: 'endpoints', change })
  }

  /** Sends the mesh certificate to the workers. */
  setMesh(state: MeshState): void {
    this.#mesh = state
    for (const handle of this.#all()) handle.post({ type: 'mesh', state })
  }

  setLogFilter(filter: string): void {
    this.#logFilter = filter
    for (const handle of this.#all()) handle.post({ type: 'logFilter', filter })
  }

  get restarts(): number {
    return this.#restarts
  }

  /** The number of replaced workers that still finish their requests. */
  get retiring(): number {
    return this.#retiring.size
  }

  get size(): number {
    return this.#handles.size
  }

  drain(quietMs: number): void {
    this.#drainQuietMs = quietMs
    for (const handle of this.#handles) handle.post({ type: 'drain', quietMs })
  }

  /** Sends an export request to the metrics collector through one of the workers. */
  deliver(request: Buffer): Promise<Delivery> {
    const [first] = this.#handles
    return first?.deliver(request) ?? Promise.resolve({ kind: 'later', cause: 'no worker is running', afterMs: null })
  }

  /** The endpoint states as each worker sees them; null for a worker that is too busy to answer. */
  endpoints(): Promise<(readonly NamedState[] | null)[]> {
    return Promise.all([...this.#handles].map((handle) => handle.endpoints()))
  }

  /** The response caches of each worker; null for a worker that is too busy to answer. */
  cacheFigures(): Promise<(CacheCommandAnswer | null)[]> {
    return Promise.all([...this.#handles].map((handle) => handle.caches({ kind: 'figures', withStore: true })))
  }

  /** Removes answers from the response caches of all workers, and of the shared store. */
  purgeCaches(selection: AnswerSelection): Promise<(CacheCommandAnswer | null)[]> {
    return Promise.all(this.#all().map((handle) => handle.caches({ kind: 'purge', selection })))
  }

  /** Counts the open requests of each worker by route key; null for a worker that is too busy to answer. */
  open(): Promise<(ReadonlyMap<string, number> | null)[]> {
    return Promise.all(this.#all().map((handle) => handle.open()))
  }

  /** Ends connections that are still open. */
  cut(): void {
    for (const handle of this.#all()) handle.post({ type: 'cut' })
  }

  /** Closes the ports; resolves when no connection is left. */
  async stopListening(): Promise<void> {
    this.#stopping = true
    await Promise.all(this.#all().map((handle) => handle.stopListening()))
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all(this.#all().map((handle) => handle.exit()))
    await this.#mcp.close()
  }

  #all(): WorkerHandle[] {
    return [...this.#handles, ...this.#retiring]
  }

  async #applyToAll(config: LiveConfig): Promise<string | null> {
    let text: IrText | null = null
    const textOnce = (ir: Ir): IrText => (text ??= textOfIr(ir))
    this.records.resize(recorderSizes(config.ir))
    const waitedFor = new Set(this.#handles)
    const late = setTimeout(() => {
      for (const { name } of waitedFor)
        this.#options.log.warn(`worker has not applied config ${config.generation} yet`, { worker: name })
    }, LATE_MS)
    const errors = await Promise.all(
      [...this.#handles].map(async (handle) => {
        const error = await handle.apply(config, { textOf: textOnce, recorder: this.records.memoryFor(handle.name) })
        waitedFor.delete(handle)
        return error
      }),
    )
    clearTimeout(late)
    return errors.find((error) => error !== null) ?? null
  }

  #spawn(): WorkerHandle {
    const { startWorker, settings, collector } = this.#options
    const number = this.#born++
    const name = `worker-${number}`
    const seat = this.#takeSeat()
    const region = createRegion()
    collector.attach(name, region)
    const handle = new WorkerHandle(
      startWorker,
      {
        ...settings,
        logFilter: this.#logFilter,
        number,
        name,
        seat: { own: seat, all: workerIndexCount(this.#options.workers) },
        region,
        counters: this.#table,
        traces: this.traces.shared,
        ticketSecret: this.#ticketSecret,
        instance: this.#instance,
      },
      {
        series: (definition) => collector.define(name, definition),
        exemplar: (exemplar) => collector.exemplify(name, exemplar),
        trace: (message) => this.traces.received(number, message),
        mcp: (message) => this.#mcp.received(number, message),
        ledger: (message) => this.#options.ledger()?.receive(number, message),
        listening: () => this.#listeningChanged(),
        faulted: () => this.#replaceFaulted(handle),
        exited: (cause) => {
          const wasRetired = this.#retiring.delete(handle)
          this.#handles.delete(handle)
          this.#faulted.delete(handle)
          this.#seats.delete(seat)
          this.traces.died(number)
          this.records.died(name)
          this.#mcp.died(number)
          this.#options.ledger()?.workerEnded(number)
          collector.retire(name)
          if (wasRetired) this.#replaceNext()
          else this.#died(name, cause)
          this.#listeningChanged()
        },
      },
    )
    this.#handles.add(handle)
    const known = this.#addresses.whole()
    if (known.put.length > 0) handle.post({ type: 'endpoints', change: known })
    if (this.#mesh !== null) handle.post({ type: 'mesh', state: this.#mesh })
    this.traces.born(number, (message) => handle.post(message))
    this.#mcp.born(number, (message) => handle.post({ type: 'mcp', message }))
    return handle
  }

  #takeSeat(): number {
    let seat = 0
    while (this.#seats.has(seat)) seat++
    this.#seats.add(seat)
    return seat
  }

  /** A worker reported that shared state of its requests may be damaged. It keeps serving until its replacement listens. */
  #replaceFaulted(handle: WorkerHandle): void {
    if (this.#stopping || !this.#handles.has(handle) || this.#faulted.has(handle)) return
    if (!handle.isThread) {
      this.#options.log.error(`${ONE_THREAD_FAULT}: it keeps serving`, { worker: handle.name })
      return
    }
    this.#faulted.add(handle)
    this.#options.log.error('worker had an internal error, starting a replacement', { worker: handle.name })
    this.#replaceNext()
  }

  /** Replaces one worker at a time, because there is only one more worker index than workers. */
  #replaceNext(): void {
    const [handle] = this.#faulted
    if (handle === undefined || this.#isReplacing || this.#retiring.size > 0 || this.#stopping) return
    this.#isReplacing = true
    setTimeout(() => void this.#replaceOne(handle), this.#restartDelay())
  }

  async #replaceOne(handle: WorkerHandle): Promise<void> {
    const config = this.#config
    if (!this.#stopping && this.#handles.has(handle) && config !== null) {
      this.#restarts++
      const successor = this.#spawn()
      const error = await successor.apply(config, { recorder: this.records.memoryFor(successor.name) })
      if (error === null && successor.isListening) this.#retire(handle)
      // The old worker keeps serving; its next internal error starts another attempt.
      else successor.terminate()
      if (this.#drainQuietMs !== null) successor.post({ type: 'drain', quietMs: this.#drainQuietMs })
    }
    this.#faulted.delete(handle)
    this.#isReplacing = false
    this.#replaceNext()
  }

  /** Stops new connections to a worker, and gives its open requests some time. */
  #retire(handle: WorkerHandle): void {
    if (!this.#handles.delete(handle)) return
    this.#retiring.add(handle)
    handle.post({ type: 'drain', quietMs: RETIRE_QUIET_MS })
    const late = setTimeout(() => void handle.exit(), RETIRE_MS)
    void handle.stopListening().then(() => {
      clearTimeout(late)
      return handle.exit()
    })
  }

  #died(name: string, cause: Error | null): void {
    if (this.#stopping) return
    this.#restarts++
    this.#lastCause = `worker died: ${cause?.message ?? 'exit'}`
    this.#options.log.error('worker died, starting a replacement', { worker: name, cause: cause?.message ?? 'exit' })
    setTimeout(() => void this.#replace(), this.#restartDelay())
  }

  /** The first dead workers are replaced at once; repeated deaths are delayed, to protect the machine. */
  #restartDelay(): number {
    const now = performance.now()
    this.#recentDeaths = this.#recentDeaths.filter((at) => now - at < 10_000)
    const delay = this.#recentDeaths.length < 3 ? 0 : Math.min(5_000, 100 * 2 ** this.#recentDeaths.length)
    this.#recentDeaths.push(now)
    return delay
  }

  async #replace(): Promise<void> {
    if (this.#stopping) return
    const handle = this.#spawn()
    const config = this.#config
    if (config === null) return
    const error = await handle.apply(config, { recorder: this.records.memoryFor(handle.name) })
    // A worker that cannot listen is terminated, and a replacement tries again.
    if (error !== null && config === this.#config) handle.terminate()
    else if (this.#drainQuietMs !== null) handle.post({ type: 'drain', quietMs: this.#drainQuietMs })
  }
}
