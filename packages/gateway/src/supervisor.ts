import { randomBytes } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import type { Ir } from './ir/resources.ts'
import type { FromWorker, ToWorker, WorkerSettings } from './messages.ts'
import type { Logger } from './telemetry/logger.ts'
import type { Collector } from './telemetry/metrics-collect.ts'
import { createRegion } from './telemetry/metrics.ts'

export interface SupervisorOptions {
  workers: number
  /** The module every worker runs. */
  entry: URL
  settings: Omit<WorkerSettings, 'name' | 'region' | 'ticketSecret'>
  log: Logger
  collector: Collector
}

interface LiveConfig {
  generation: number
  ir: Ir
  ports: Record<string, number>
}

/** Keeps the workers: gives each the config, replaces one that dies, and ends them in order. */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #ticketSecret = randomBytes(32)
  readonly #handles = new Set<WorkerHandle>()
  #config: LiveConfig | null = null
  #logFilter: string
  #born = 0
  #restarts = 0
  #recentDeaths: number[] = []
  #stopping = false

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#logFilter = options.settings.logFilter
    options.collector.provide('worker_restarts_total', [], () => this.#restarts)
  }

  /** Starts the workers; resolves when each can take a config. */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.workers }, () => this.#spawn().online))
  }

  /** Makes a config live in every worker; resolves with what went wrong, or null. */
  async apply(config: LiveConfig): Promise<string | null> {
    this.#config = config
    const errors = await Promise.all([...this.#handles].map((handle) => handle.apply(config)))
    return errors.find((error) => error !== null) ?? null
  }

  setLogFilter(filter: string): void {
    this.#logFilter = filter
    for (const handle of this.#handles) handle.post({ type: 'logFilter', filter })
  }

  get size(): number {
    return this.#handles.size
  }

  drain(): void {
    for (const handle of this.#handles) handle.post({ type: 'drain' })
  }

  /** Closes the ports; resolves when no connection is left. */
  async stopListening(): Promise<void> {
    this.#stopping = true
    await Promise.all([...this.#handles].map((handle) => handle.stopListening()))
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all([...this.#handles].map((handle) => handle.exit()))
  }

  #spawn(): WorkerHandle {
    const { entry, settings, collector } = this.#options
    const name = `worker-${this.#born++}`
    const region = createRegion()
    collector.attach(name, region)
    const handle = new WorkerHandle(
      entry,
      { ...settings, logFilter: this.#logFilter, name, region, ticketSecret: this.#ticketSecret },
      {
        series: (definition) => collector.define(name, definition),
        exited: (cause) => {
          this.#handles.delete(handle)
          collector.retire(name)
          this.#died(name, cause)
        },
      },
    )
    this.#handles.add(handle)
    return handle
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
    setTimeout(() => {
      if (this.#stopping) return
      const handle = this.#spawn()
      void handle.online.then(() => {
        if (this.#config !== null) return handle.apply(this.#config)
        return null
      })
    }, delay)
  }
}

/** One worker thread as the main thread sees it. */
class WorkerHandle {
  readonly online: Promise<void>
  readonly #worker: Worker
  readonly #applying = new Map<number, (error: string | null) => void>()
  readonly #ended: Promise<void>
  #idle: (() => void) | null = null
  #dead = false

  constructor(
    entry: URL,
    settings: WorkerSettings,
    events: {
      series(definition: (FromWorker & { type: 'series' })['definition']): void
      exited(cause: Error | null): void
    },
  ) {
    this.#worker = new Worker(entry, { workerData: settings, name: settings.name, stdout: false, stderr: false })
    const online = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    this.online = online.promise
    this.#ended = ended.promise
    let cause: Error | null = null
    this.#worker.on('message', (message: FromWorker) => {
      switch (message.type) {
        case 'online':
          return online.resolve()
        case 'applied':
          this.#applying.get(message.generation)?.(message.error)
          this.#applying.delete(message.generation)
          return
        case 'series':
          return events.series(message.definition)
        case 'idle':
          this.#idle?.()
          return
      }
    })
    this.#worker.on('error', (error: unknown) => {
      cause = error instanceof Error ? error : new Error(String(error))
    })
    this.#worker.on('exit', () => {
      this.#dead = true
      events.exited(cause)
      // A worker that dies with a config in its hands has not refused it: its successor gets it.
      for (const done of this.#applying.values()) done(null)
      this.#idle?.()
      online.resolve()
      ended.resolve()
    })
  }

  post(message: ToWorker): void {
    if (!this.#dead) this.#worker.postMessage(message)
  }

  apply(config: LiveConfig): Promise<string | null> {
    if (this.#dead) return Promise.resolve(null)
    return new Promise((resolve) => {
      this.#applying.set(config.generation, resolve)
      this.post({ type: 'config', ...config })
    })
  }

  stopListening(): Promise<void> {
    if (this.#dead) return Promise.resolve()
    return new Promise((resolve) => {
      this.#idle = resolve
      this.post({ type: 'stopListening' })
    })
  }

  exit(): Promise<void> {
    this.post({ type: 'exit' })
    return this.#ended
  }
}
