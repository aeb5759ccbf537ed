import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ResourceLimits } from 'node:worker_threads'
import { MainHub } from '../../mcp/hub/main-hub.ts'
import { offersOf } from '../../compile/offers.ts'
import { processContents } from '../../compile/stdio-processes.ts'
import type { WorkerSettings } from './messages.ts'
import { seatCount } from '../../state/connection-count.ts'
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
import { type EndpointsChange, type NamedState, ServiceAddresses } from '@portico/http/client'
import { recorderSizes } from '../telemetry/recorder-sizes.ts'
import { type LiveConfig, WorkerHandle } from './worker-handle.ts'

export interface SupervisorOptions {
  workers: number
  /** The module that every worker runs. */
  entry: URL
  settings: Omit<
    WorkerSettings,
    'number' | 'name' | 'seat' | 'region' | 'counters' | 'traces' | 'ticketSecret' | 'instance'
  >
  log: Logger
  /** For what programs behind MCP backends say, and what becomes of them. */
  mcpLog: Logger
  collector: Collector
  /** Those of the runtime when left out. */
  resourceLimits?: ResourceLimits
}

/** A worker that takes longer is busy with something else: whoever waits for a config is told why. */
const LATE_MS = 2_000
/** A config that no worker serves after this time is refused. */
const SERVED_MS = 10_000
const SERVED_LOOK_MS = 20
/** For what a worker has under way that was replaced after an internal error. */
const RETIRE_MS = 30_000
/** Idle connections of such a worker are closed after this time without a request. */
const RETIRE_QUIET_MS = 1_000

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
  readonly #ticketSecret = randomBytes(32)
  readonly #instance = randomBytes(8).toString('hex')
  readonly #handles = new Set<WorkerHandle>()
  /** Workers that another one has replaced after an internal error: they end what they have begun, for a while. */
  readonly #retiring = new Set<WorkerHandle>()
  /** Workers that wait for their replacement. */
  readonly #faulted = new Set<WorkerHandle>()
  #isReplacing = false
  /** Why the last worker died. */
  #lastCause = 'no worker has taken it in time'
  #listeningChanged: () => void = () => undefined
  readonly #seats = new Set<number>()
  /** The addresses of all Services, for workers that start later. */
  readonly #addresses = new ServiceAddresses()
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

  /** Starts the workers; resolves when each can take a config, or with what keeps them from it. */
  async start(): Promise<string[] | null> {
    const started = await Promise.all(Array.from({ length: this.#options.workers }, () => this.#spawn().online))
    const problems = started.filter((problem) => problem !== null)
    return problems.length === 0 ? null : [`workers do not start: ${problems[0]}`]
  }

  /** Makes a config live in every worker, or leaves all with the one before; resolves with what went wrong, or null. */
  async apply(config: LiveConfig): Promise<string | null> {
    const before = this.#config
    // Workers that are born from here on get it as their first.
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

  /** The watcher is called whenever a worker began to listen, or died. */
  watchListening(watcher: () => void): void {
    this.#listeningChanged = watcher
  }

  /** Workers that do not take messages within this time, by name. */
  async silentWorkers(withinMs: number): Promise<string[]> {
    const asked = [...this.#handles].map(async (handle) => ((await handle.answers(withinMs)) ? [] : [handle.name]))
    return (await Promise.all(asked)).flat()
  }

  /** How many there are while none is dead. */
  get workers(): number {
    return this.#options.workers
  }

  /** Tells where Services are reached from now on; no config is involved. */
  setEndpoints(change: EndpointsChange): void {
    this.#addresses.take(change)
    for (const handle of this.#all()) handle.post({ type: 'endpoints', change })
  }

  setLogFilter(filter: string): void {
    this.#logFilter = filter
    for (const handle of this.#all()) handle.post({ type: 'logFilter', filter })
  }

  get restarts(): number {
    return this.#restarts
  }

  /** Workers that were replaced and end what they have begun. */
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

  /** Has one of the workers bring a request to the collector of metrics. */
  deliver(request: Buffer): Promise<Delivery> {
    const [first] = this.#handles
    return first?.deliver(request) ?? Promise.resolve({ kind: 'later', cause: 'no worker is there', afterMs: null })
  }

  /** How endpoints do, as each worker sees them; null for one that is too busy to say. */
  endpoints(): Promise<(readonly NamedState[] | null)[]> {
    return Promise.all([...this.#handles].map((handle) => handle.endpoints()))
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
        this.#options.log.warn(`a worker has not taken config ${config.generation} yet`, { worker: name })
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
    const { entry, settings, collector, resourceLimits } = this.#options
    const number = this.#born++
    const name = `worker-${number}`
    const seat = this.#takeSeat()
    const region = createRegion()
    collector.attach(name, region)
    const handle = new WorkerHandle(
      { entry, resourceLimits },
      {
        ...settings,
        logFilter: this.#logFilter,
        number,
        name,
        seat: { own: seat, all: seatCount(this.#options.workers) },
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

  /** A worker says that what its requests share may be damaged. It serves on until another one listens. */
  #replaceFaulted(handle: WorkerHandle): void {
    if (this.#stopping || !this.#handles.has(handle) || this.#faulted.has(handle)) return
    this.#faulted.add(handle)
    this.#options.log.error('worker had an internal error, starting another in its place', { worker: handle.name })
    this.#replaceNext()
  }

  /** One at a time: there is one seat more than workers. */
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
      // The old one serves on; its next internal error tries again.
      else successor.terminate()
      if (this.#drainQuietMs !== null) successor.post({ type: 'drain', quietMs: this.#drainQuietMs })
    }
    this.#faulted.delete(handle)
    this.#isReplacing = false
    this.#replaceNext()
  }

  /** Takes no more connections; what is under way has some time to end. */
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
    this.#options.log.error('worker died, starting another', { worker: name, cause: cause?.message ?? 'exit' })
    setTimeout(() => void this.#replace(), this.#restartDelay())
  }

  /** The first deaths are mended at once; one that dies again and again must not eat the machine. */
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
    // One that cannot listen serves nobody: it goes the way of one that died, and the next one tries.
    if (error !== null && config === this.#config) handle.terminate()
    else if (this.#drainQuietMs !== null) handle.post({ type: 'drain', quietMs: this.#drainQuietMs })
  }
}
