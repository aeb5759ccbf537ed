import { setImmediate } from 'node:timers/promises'
import { compile, type CompiledConfig, type Previous } from '../../compile/index.ts'
import { loadFeatures } from '../../compile/load-features.ts'
import { applyChange, changeBetween } from '../../ir/change.ts'
import { irOfText } from '../../ir/ir-text.ts'
import type { Ir } from '../../ir/resources.ts'
import { atStart } from './start-flags.ts'
import type { ConfigMessage, FromWorker, ToWorker, WorkerSettings } from './messages.ts'
import { Deadlines } from '@portico/http'
import { contained, describeFault, onFault, onFaultCount } from '@portico/http/faults'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import { LineWriter } from '../../telemetry/log/line-writer.ts'
import { type LogFilter, parseLogFilter } from '../../telemetry/log/log-filter.ts'
import { createLogger, type Logger, type RootLogger } from '../../telemetry/log/logger.ts'
import { increase, Registry, type SeriesDefinition } from '../../telemetry/metrics/metrics.ts'
import { watchEventLoop } from '../../telemetry/metrics/runtime-metrics.ts'
import { createFaultMetrics } from '../../telemetry/metrics/fault-metrics.ts'
import type { Delivery } from '../../telemetry/otlp/retrying-sender.ts'
import { createWorkerServices, type WorkerServices } from './worker-services.ts'
import { WorkerPorts } from './worker-ports.ts'

/** A worker's link to the supervisor in the main thread. */
export interface SupervisorLink {
  post(message: FromWorker): void
  /** Called once, when the worker has flushed its log after an `exit` message. */
  ended(): void
}

/** The time to flush exports at the end; the main thread waits two seconds for a worker that ends. */
const EXPORT_FLUSH_MS = 750

/** Serves the traffic of a config, in a thread of its own or in the main thread. */
export class TrafficWorker {
  readonly #settings: WorkerSettings
  readonly #supervisor: SupervisorLink
  /**
   * Metric series that the main thread does not know yet. They are sent in batches, because each message wakes the main
   * thread.
   */
  #announced: SeriesDefinition[] = []
  readonly #writer = new LineWriter()
  readonly #logger: RootLogger
  readonly #log: Logger
  readonly #registry: Registry
  readonly #services: WorkerServices
  readonly #ports: WorkerPorts
  #current: { ir: Ir; config: CompiledConfig } | null = null
  #applying: Promise<void> = Promise.resolve()

  constructor(settings: WorkerSettings, supervisor: SupervisorLink) {
    this.#settings = settings
    this.#supervisor = supervisor
    this.#logger = createLogger({
      filter: filterOf(settings.logFilter),
      format: settings.logFormat,
      write: this.#writer.write,
    })
    this.#log = this.#logger.child('worker')
    this.#registry = new Registry({ region: settings.region, announce: (definition) => this.#announce(definition) })
    watchEventLoop(this.#registry, settings.name)
    const deadlines = new Deadlines()
    this.#services = createWorkerServices({
      settings,
      registry: this.#registry,
      writer: this.#writer,
      logger: this.#logger,
      deadlines,
      post: (message) => this.#post(message),
      ports: () => this.#ports,
    })
    const { reusePort } = settings
    this.#ports = new WorkerPorts({ deadlines, registry: this.#registry, log: this.#log, reusePort })
    onFaultCount(createFaultMetrics(this.#registry))
    onFault((error, scope) => {
      this.#log.error('internal error', { scope, error: describeFault(error) })
      if (scope === 'worker') this.#post({ type: 'faulted' })
    })
    this.#post({ type: 'online' })
  }

  /** Handles a message of the supervisor; an exception is reported as a fault of the worker. */
  receive(message: ToWorker): void {
    contained('worker', () => this.#take(message))
  }

  #take(message: ToWorker): void {
    const services = this.#services
    switch (message.type) {
      case 'config':
        // Opening ports takes time, so the next config waits until this config is applied.
        this.#applying = this.#applying.then(() => this.#apply(message))
        return
      case 'endpoints':
        return services.addresses.take(message.change)
      case 'mesh':
        return services.mesh.take(message.state)
      case 'logFilter':
        return this.#logger.setFilter(filterOf(message.filter))
      case 'drain':
        return this.#ports.drain(message.quietMs)
      case 'look':
        return this.#post({ type: 'looked', id: message.id, states: services.endpoints.states() })
      case 'cache':
        void import('../../cache/cache-command.ts').then(async ({ runCacheCommand }) =>
          this.#post({ type: 'cached', id: message.id, answer: await runCacheCommand(message.command, services) }),
        )
        return
      case 'ping':
        return this.#post({ type: 'alive', id: message.id })
      case 'count':
        return this.#post({ type: 'counted', id: message.id, open: this.#ports.countOpen() })
      case 'watch':
      case 'unwatch':
        return services.tracer.take(message)
      case 'mcp':
        return services.hub.take(message.message)
      case 'stopListening':
        void this.#ports.stopListening().then(() => this.#post({ type: 'idle' }))
        return
      case 'cut':
        return this.#ports.destroy()
      case 'export':
        void this.#exportMetrics(message.request).then((delivery) =>
          this.#post({ type: 'exported', id: message.id, delivery }),
        )
        return
      case 'exit':
        this.#ports.destroy()
        void this.#end()
        return
    }
  }

  async #end(): Promise<void> {
    const { ledger, budgets, answers, exports } = this.#services
    // A request that the shutdown cut off is logged only after its connection has closed, in the next turn of the event
    // loop.
    await setImmediate()
    ledger?.flush()
    ledger?.close()
    await budgets?.close(EXPORT_FLUSH_MS)
    answers?.close()
    await Promise.all([...exports.busy].map((exporter) => exporter.flush(EXPORT_FLUSH_MS)))
    await this.#writer.flush()
    this.#supervisor.ended()
  }

  /** Sends metrics to the collector of the newest config. */
  async #exportMetrics(request: Uint8Array): Promise<Delivery> {
    const deliver = this.#current?.config.deliverMetrics ?? null
    if (deliver === null) return { kind: 'refused', cause: 'the config names no collector' }
    try {
      return await deliver(Buffer.from(request.buffer, request.byteOffset, request.byteLength))
    } catch (error) {
      return { kind: 'refused', cause: error instanceof Error ? error.message : String(error) }
    }
  }

  async #apply(message: ConfigMessage): Promise<void> {
    const services = this.#services
    try {
      const { ir, previous } = this.#read(message.config)
      await loadFeatures(ir)
      await this.#openBudgets()
      await this.#openLedgerFeed()
      services.keysOfSessions = message.sessionKeys
      if (sharesAnswers(ir)) await this.#openAnswers()
      services.tables.take(message.tables)
      services.recorder.attach(message.recorder)
      const next = atStart(() => compile(ir, services, previous))
      await this.#ports.serve(next.binds, message.ports)
      this.#current = { ir, config: next }
      const { generation } = message
      services.recorder.use(next.recorder === null ? null : { ...next.recorder, generation }, services.now())
      services.shapeKeepalive.drop()
      this.#post({ type: 'applied', error: null })
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
      this.#log.error('config not applied', { error: text })
      this.#post({ type: 'applied', error: error instanceof Error ? error.message : String(error) })
    }
  }

  async #openLedgerFeed(): Promise<void> {
    const services = this.#services
    const { ledger, number: worker } = this.#settings
    if (ledger === null || services.ledger !== null) return
    const { openFeed } = await import('../../ledger/open-feed.ts')
    const { recorder, deadlines, budgets } = services
    services.ledger = openFeed<RequestContext>(recorder, {
      ...{ settings: ledger, worker, deadlines, sent: budgets, registry: this.#registry },
      log: this.#logger.child('ledger'),
      post: (message) => this.#post(message),
    })
    services.settling = services.ledger.settling
  }

  async #openBudgets(): Promise<void> {
    const { redis } = this.#settings
    if (redis === null || this.#services.budgets !== null) return
    const { openRedisBudgets } = await import('../../stores/redis/open-budgets.ts')
    const registry = this.#registry
    const [record, lost] = [this.#services.callouts('BudgetStore'), registry.slot('budget_costs_lost_total', [])]
    this.#services.budgets = openRedisBudgets(redis, {
      clock: Date.now,
      record: (outcome, milliseconds) => record(outcome, milliseconds, null),
      countLost: () => increase(registry.values, lost, 1),
      log: this.#logger.child('budget'),
    })
  }

  async #openAnswers(): Promise<void> {
    const { redis } = this.#settings
    const services = this.#services
    if (redis === null || services.answers !== null) return
    const { openRedisAnswers } = await import('../../stores/redis/open-answers.ts')
    const record = services.callouts('CacheStore')
    services.answers = openRedisAnswers(redis, {
      sessionKeys: services.sessionKeys,
      record: (outcome, milliseconds) => record(outcome, milliseconds, null),
      counts: services.answerCounts(),
      log: this.#logger.child('cache'),
    })
  }

  #read(sent: ConfigMessage['config']): { ir: Ir; previous: Previous | null } {
    const current = this.#current
    if (current === null) {
      if ('change' in sent) throw new Error('received a change to a config that was never received')
      return { ir: wholeOf(sent), previous: null }
    }
    const whole = 'change' in sent ? current.ir : wholeOf(sent)
    const change = 'change' in sent ? sent.change : changeBetween(current.ir, whole)
    const changed = change === null ? null : applyChange(current.ir, change)
    const ir = changed?.ir ?? whole
    return { ir, previous: { config: current.config, changed } }
  }

  #announce(definition: SeriesDefinition): void {
    if (this.#announced.push(definition) === 1) queueMicrotask(() => this.#tellOfSeries())
  }

  #tellOfSeries(): void {
    if (this.#announced.length === 0) return
    const definitions = this.#announced
    this.#announced = []
    this.#supervisor.post({ type: 'series', definitions })
  }

  #post(message: FromWorker): void {
    // The message may refer to a metric series that was created just now, so new series are sent first.
    this.#tellOfSeries()
    this.#supervisor.post(message)
  }
}

function wholeOf(sent: Exclude<ConfigMessage['config'], { change: unknown }>): Ir {
  return 'ir' in sent ? sent.ir : irOfText(sent.whole)
}

function sharesAnswers({ policies }: Ir): boolean {
  return policies.some(({ backend }) => backend?.ai?.cache?.shared !== undefined)
}

function filterOf(text: string): LogFilter {
  const parsed = parseLogFilter(text)
  // The main thread has validated the log filter.
  if (!parsed.ok) throw new Error(`log filter ${text}`)
  return parsed.value
}
