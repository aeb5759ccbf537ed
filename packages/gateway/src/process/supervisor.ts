import { randomBytes } from 'node:crypto'
import type { ResourceLimits } from 'node:worker_threads'
import { MainHub } from '../mcp/hub/main-hub.ts'
import { offersOf } from '../mcp/hub/offers.ts'
import { processContents } from '../mcp/hub/process-spec.ts'
import type { WorkerSettings } from './messages.ts'
import { Reservations } from '../state/reservations.ts'
import { createTable, SharedTable } from '../state/shared-table.ts'
import { type IrText, textOfIr } from '../ir/ir-text.ts'
import type { Ir } from '../ir/resources.ts'
import type { Logger } from '../telemetry/log/logger.ts'
import type { Collector } from '../telemetry/metrics/metrics-collect.ts'
import type { Delivery } from '../telemetry/otlp/retrying-sender.ts'
import { createRegion } from '../telemetry/metrics/metrics.ts'
import { RecordStore } from '../telemetry/recorder/record-store.ts'
import { TraceHub } from '../telemetry/trace/trace-hub.ts'
import type { NamedState } from '../upstream/endpoints.ts'
import { type EndpointsChange, ServiceAddresses } from '../upstream/service-addresses.ts'
import { recorderSizes } from './recorder-sizes.ts'
import { type LiveConfig, WorkerHandle } from './worker-handle.ts'

export interface SupervisorOptions {
  workers: number
  /** The module every worker runs. */
  entry: URL
  settings: Omit<WorkerSettings, 'number' | 'name' | 'seat' | 'region' | 'counters' | 'traces' | 'ticketSecret'>
  log: Logger
  /** For what programs behind MCP backends say, and what becomes of them. */
  mcpLog: Logger
  collector: Collector
  /** Those of the runtime when left out. */
  resourceLimits?: ResourceLimits
}

/** A worker that takes longer is busy with something else: whoever waits for a config is told why. */
const LATE_MS = 2_000

/** Keeps the workers: gives each the config, replaces one that dies, and ends them in order. */
export class Supervisor {
  /** Who watches for requests. */
  readonly traces = new TraceHub()
  /** What workers have recorded. */
  readonly records = new RecordStore()
  readonly #mcp: MainHub
  readonly #table = createTable()
  /** What all workers count together; it outlives each of them. */
  readonly counters = new Reservations(new SharedTable(this.#table))
  readonly #options: SupervisorOptions
  readonly #ticketSecret = randomBytes(32)
  readonly #handles = new Set<WorkerHandle>()
  readonly #seats = new Set<number>()
  /** Workers that are born later hear of all of them. */
  readonly #addresses = new ServiceAddresses()
  #config: LiveConfig | null = null
  #logFilter: string
  #born = 0
  #restarts = 0
  #recentDeaths: number[] = []
  #draining = false
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
    const error = await this.#applyToAll(config)
    if (error === null) {
      void this.#mcp.keepProcesses(processContents(config.ir))
      this.#mcp.offers(offersOf(config.ir))
      return null
    }
    this.#config = before
    if (before !== null) await this.#applyToAll(before)
    return error
  }

  /** How many there are while none is dead. */
  get workers(): number {
    return this.#options.workers
  }

  /** Tells where Services are reached from now on; no config is involved. */
  setEndpoints(change: EndpointsChange): void {
    this.#addresses.take(change)
    for (const handle of this.#handles) handle.post({ type: 'endpoints', change })
  }

  setLogFilter(filter: string): void {
    this.#logFilter = filter
    for (const handle of this.#handles) handle.post({ type: 'logFilter', filter })
  }

  get restarts(): number {
    return this.#restarts
  }

  get size(): number {
    return this.#handles.size
  }

  drain(): void {
    this.#draining = true
    for (const handle of this.#handles) handle.post({ type: 'drain' })
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

  /** What is under way in each worker, by the keys of routes; null for one that is too busy to say. */
  open(): Promise<(ReadonlyMap<string, number> | null)[]> {
    return Promise.all([...this.#handles].map((handle) => handle.open()))
  }

  /** Ends connections that are still open. */
  cut(): void {
    for (const handle of this.#handles) handle.post({ type: 'cut' })
  }

  /** Closes the ports; resolves when no connection is left. */
  async stopListening(): Promise<void> {
    this.#stopping = true
    await Promise.all([...this.#handles].map((handle) => handle.stopListening()))
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all([...this.#handles].map((handle) => handle.exit()))
    await this.#mcp.close()
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
        seat: { own: seat, all: this.#options.workers },
        region,
        counters: this.#table,
        traces: this.traces.shared,
        ticketSecret: this.#ticketSecret,
      },
      {
        series: (definition) => collector.define(name, definition),
        exemplar: (exemplar) => collector.exemplify(name, exemplar),
        trace: (message) => this.traces.received(number, message),
        mcp: (message) => this.#mcp.received(number, message),
        exited: (cause) => {
          this.#handles.delete(handle)
          this.#seats.delete(seat)
          this.traces.died(number)
          this.records.died(name)
          this.#mcp.died(number)
          collector.retire(name)
          this.#died(name, cause)
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

  #died(name: string, cause: Error | null): void {
    if (this.#stopping) return
    this.#restarts++
    this.#options.log.error('worker died, starting another', { worker: name, cause: cause?.message ?? 'exit' })
    const now = performance.now()
    this.#recentDeaths = this.#recentDeaths.filter((at) => now - at < 10_000)
    // The first deaths are mended at once; one that dies again and again must not eat the machine.
    const delay = this.#recentDeaths.length < 3 ? 0 : Math.min(5_000, 100 * 2 ** this.#recentDeaths.length)
    this.#recentDeaths.push(now)
    setTimeout(() => void this.#replace(), delay)
  }

  async #replace(): Promise<void> {
    if (this.#stopping) return
    const handle = this.#spawn()
    const config = this.#config
    if (config === null) return
    const error = await handle.apply(config, { recorder: this.records.memoryFor(handle.name) })
    // One that cannot listen serves nobody: it goes the way of one that died, and the next one tries.
    if (error !== null && config === this.#config) handle.terminate()
    else if (this.#draining) handle.post({ type: 'drain' })
  }
}
