import type { CacheCommand, CacheCommandAnswer } from '../../cache/cache-command.ts'
import type { IrChange } from '../../ir/change.ts'
import { type IrText, textOfIr } from '../../ir/ir-text.ts'
import type { Ir } from '../../ir/resources.ts'
import type { LedgerMessage } from '../../ledger/worker-messages.ts'
import type { HubFromWorker } from '../../mcp/hub/hub-messages.ts'
import type { FromWorker, ToWorker, WorkerSettings } from './messages.ts'
import type { TableSet } from '../../state/keyed-tables.ts'
import type { Delivery } from '../../telemetry/otlp/retrying-sender.ts'
import type { RecorderMemory } from '../../telemetry/recorder/recorder.ts'
import type { NamedState } from '@portico/http/client'
import type { TraceFromWorker } from '../../telemetry/trace/trace-event.ts'
import type { StartWorker, WorkerChannel } from './worker-channel.ts'

export interface LiveConfig {
  generation: number
  ir: Ir
  /** The change from the generation before; null when only the whole config is known. */
  change: IrChange | null
  ports: Record<string, number>
  /** The keys that encrypt MCP sessions; empty when the config needs none. */
  sessionKeys: readonly string[]
  /** The tables of budgets by key that the config needs. */
  tables: TableSet
}

/** The parts of the message that brings a config to a worker. */
interface ApplyParts {
  /** Serializes the whole config, for a worker that lacks the generation before. */
  textOf?: (ir: Ir) => IrText
  recorder: RecorderMemory | null
}

interface WorkerEvents {
  series(definition: (FromWorker & { type: 'series' })['definitions'][number]): void
  exemplar(exemplar: (FromWorker & { type: 'exemplar' })['exemplar']): void
  trace(message: TraceFromWorker): void
  mcp(message: HubFromWorker): void
  ledger(message: LedgerMessage): void
  /** Reports an internal error that may have damaged state that the worker's requests share. */
  faulted(): void
  /** The worker listens on the ports of a config that it has just applied. */
  listening(): void
  exited(cause: Error | null): void
}

/** The response to a question. */
type Answer = Extract<FromWorker, { type: 'looked' | 'counted' | 'alive' | 'cached' }>

type Question = Extract<ToWorker, { type: 'look' | 'count' | 'ping' | 'cache' }>

/** The supervisor's handle of one worker. */
export class WorkerHandle {
  readonly name: string
  readonly #worker: WorkerChannel
  readonly #events: WorkerEvents
  readonly #online = Promise.withResolvers<string | null>()
  readonly #ended = Promise.withResolvers<void>()
  /** A worker takes configs one after the other, so the first answer is for the first question. */
  readonly #applying: ((error: string | null) => void)[] = []
  readonly #exporting = new Map<number, (delivery: Delivery) => void>()
  #exports = 0
  readonly #asked = new Map<number, (answer: Answer | null) => void>()
  #questions = 0
  #idle: (() => void) | null = null
  #dead = false
  /** The error that ended the worker. */
  #cause: Error | null = null
  /** The generation of the config that the worker applied last; 0 while there is none or it is unknown. */
  #generation = 0
  #hasApplied = false

  constructor(start: StartWorker, settings: WorkerSettings, events: WorkerEvents) {
    this.name = settings.name
    this.#events = events
    this.#worker = start(settings, {
      received: (message) => this.#take(message),
      exited: (cause) => {
        this.#cause = cause
        this.#exited()
      },
    })
  }

  /** Whether the worker runs in its own thread, so that another thread can replace it. */
  get isThread(): boolean {
    return this.#worker.isThread
  }

  /** Resolves with null when the worker is ready for a config, or with the error that ended it. */
  get online(): Promise<string | null> {
    return this.#online.promise
  }

  #take(message: FromWorker): void {
    switch (message.type) {
      case 'online':
        return this.#online.resolve(null)
      case 'applied':
        this.#applying.shift()?.(message.error)
        return
      case 'series':
        for (const definition of message.definitions) this.#events.series(definition)
        return
      case 'exemplar':
        return this.#events.exemplar(message.exemplar)
      case 'idle':
        this.#idle?.()
        return
      case 'watching':
      case 'traced':
        return this.#events.trace(message)
      case 'exported':
        this.#exporting.get(message.id)?.(message.delivery)
        this.#exporting.delete(message.id)
        return
      case 'faulted':
        return this.#events.faulted()
      case 'looked':
      case 'counted':
      case 'alive':
      case 'cached':
        this.#asked.get(message.id)?.(message)
        return
      case 'mcp':
        return this.#events.mcp(message.message)
      case 'ledger':
      case 'journal':
        return this.#events.ledger(message)
    }
  }

  #exited(): void {
    this.#dead = true
    this.#events.exited(this.#cause)
    // A worker that dies while it applies a config has not rejected it; its successor gets the config.
    for (const done of this.#applying.splice(0)) done(null)
    for (const done of this.#exporting.values()) done(WORKER_GONE)
    this.#exporting.clear()
    for (const done of this.#asked.values()) done(null)
    this.#idle?.()
    this.#online.resolve(this.#cause?.message ?? 'exit')
    this.#ended.resolve()
  }

  post(message: ToWorker): void {
    if (!this.#dead) this.#worker.post(message)
  }

  apply(live: LiveConfig, { textOf = textOfIr, recorder }: ApplyParts): Promise<string | null> {
    if (this.#dead) return Promise.resolve(null)
    const { generation, ir, change, ports, sessionKeys, tables } = live
    const isNext = change !== null && this.#generation === generation - 1
    const config = isNext ? { change } : this.isThread ? { whole: textOf(ir) } : { ir }
    this.#generation = 0
    return new Promise((resolve) => {
      this.#applying.push((error) => {
        if (error === null && !this.#dead) {
          this.#generation = generation
          this.#hasApplied = true
          this.#events.listening()
        }
        resolve(error)
      })
      this.post({ type: 'config', generation, config, ports, sessionKeys, tables, recorder })
    })
  }

  /** Sends an export request to the metrics collector through this worker. */
  deliver(request: Buffer): Promise<Delivery> {
    if (this.#dead) return Promise.resolve(WORKER_GONE)
    const id = this.#exports++
    return new Promise((resolve) => {
      this.#exporting.set(id, resolve)
      this.post({ type: 'export', id, request })
    })
  }

  /** The states of its endpoints; null when the worker is too busy to answer. */
  async endpoints(): Promise<readonly NamedState[] | null> {
    const answer = await this.#ask((id) => ({ type: 'look', id }))
    return answer?.type === 'looked' ? answer.states : null
  }

  /** Counts the open requests by route key; null when the worker is too busy to answer. */
  async open(): Promise<ReadonlyMap<string, number> | null> {
    const answer = await this.#ask((id) => ({ type: 'count', id }))
    return answer?.type === 'counted' ? answer.open : null
  }

  /** Sends a question about response caches; resolves with null when the worker is too busy to answer. */
  async caches(command: CacheCommand): Promise<CacheCommandAnswer | null> {
    const answer = await this.#ask((id) => ({ type: 'cache', id, command }), CACHE_ANSWER_MS)
    return answer?.type === 'cached' ? answer.answer : null
  }

  /** Whether the worker answers a ping within this time. */
  async answers(withinMs: number): Promise<boolean> {
    return (await this.#ask((id) => ({ type: 'ping', id }), withinMs)) !== null
  }

  serves(generation: number): boolean {
    return this.#generation === generation && !this.#dead
  }

  /** Whether the worker listens on the ports of the config that it applied last. */
  get isListening(): boolean {
    return this.#hasApplied && !this.#dead
  }

  #ask(question: (id: number) => Question, withinMs = ANSWER_MS): Promise<Answer | null> {
    if (this.#dead) return Promise.resolve(null)
    const id = this.#questions++
    return new Promise((resolve) => {
      const done = (answer: Answer | null): void => {
        clearTimeout(late)
        this.#asked.delete(id)
        resolve(answer)
      }
      const late = setTimeout(() => done(null), withinMs)
      this.#asked.set(id, done)
      this.post(question(id))
    })
  }

  stopListening(): Promise<void> {
    if (this.#dead) return Promise.resolve()
    return new Promise((resolve) => {
      this.#idle = resolve
      this.post({ type: 'stopListening' })
    })
  }

  terminate(): void {
    this.#worker.terminate()
  }

  /** Asks the worker to exit, so that it flushes its log, and terminates it after a time limit. */
  async exit(): Promise<void> {
    this.post({ type: 'exit' })
    const force = setTimeout(() => this.terminate(), EXIT_MS)
    await this.#ended.promise
    clearTimeout(force)
  }
}

const EXIT_MS = 2_000
const ANSWER_MS = 1_000
/** A store that gateways share is asked, too. */
const CACHE_ANSWER_MS = 10_000
/** The outcome when the worker has ended; another worker retries. */
const WORKER_GONE: Delivery = { kind: 'later', cause: 'the worker has ended', afterMs: null }
