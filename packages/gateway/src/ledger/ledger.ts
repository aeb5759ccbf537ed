import { Worker } from 'node:worker_threads'
import type { UsageQuery, UsageResult } from '../stores/store.ts'
import type { Logger } from '../telemetry/log/logger.ts'
import type { Collector } from '../telemetry/metrics/metrics-collect.ts'
import type { EntryCounts } from './ledger-writer.ts'
import { JournalControl } from './journal-control.ts'
import { journalKey } from './journal-files.ts'
import { JournalRecovery } from './journal-recovery.ts'
import type { DeadJournal } from './dead-journals.ts'
import type { RedisSettlement } from '../stores/budgets/settlement.ts'
import type { JournalSettings, LedgerMessage } from './worker-messages.ts'
import type { FromWriter, ToWriter, WriterSettings, WriterState } from './writer-messages.ts'

/** The state of the store: `problem` is null while it works. */
interface LedgerState {
  readonly problem: string | null
}

/** A batch that the writer has not stored or spooled yet; `batch` is its number in the worker. */
interface UnconfirmedBatch {
  readonly entries: string
  readonly worker: number
  readonly batch: number
}

interface LedgerSettings extends WriterSettings, JournalSettings {
  /** Settles calls of journals in the server of budgets; null without such a server. */
  readonly settle: ((calls: readonly RedisSettlement[]) => Promise<void>) | null
}

type UsageAnswer = (FromWriter & { type: 'usage' })['result']

/**
 * The ledger as the main thread sees it. It passes batches of the workers to the writer thread, and keeps each one until
 * the writer has stored or spooled it. A writer that dies is replaced and gets these batches again.
 */
export class Ledger {
  readonly #settings: WriterSettings
  readonly #instance: string
  readonly #log: Logger
  /** Null from the death of a writer to the start of the next one. */
  #writer: Worker | null
  readonly #unconfirmed = new Map<number, UnconfirmedBatch>()
  #unconfirmedLength = 0
  #serial = 0
  readonly #asked = new Map<number, (answer: UsageAnswer) => void>()
  #questions = 0
  /** Counts of writers that died, and of this thread. */
  readonly #earlier: EntryCounts = { stored: 0, spooled: 0, dropped: 0 }
  #counts: EntryCounts = { stored: 0, spooled: 0, dropped: 0 }
  #problem: string | null = null
  #closing: (() => void) | null = null
  #reportedAt = -Infinity
  readonly #recovery: JournalRecovery
  /** The journals of living workers by the number of the worker. */
  readonly #controls = new Map<number, JournalControl>()

  constructor(settings: LedgerSettings, collector: Collector, log: Logger) {
    const { instance, settle, ...writer } = settings
    this.#settings = writer
    this.#instance = instance
    this.#log = log
    const { folder } = writer
    const store = (file: string): void => this.#post({ type: 'recover', file })
    this.#recovery = new JournalRecovery({ settings: { folder, instance }, log, store, settle, now: Date.now })
    this.#recovery.lock()
    this.#writer = this.#start()
    collector.provide('ledger_store_up', [], () => (this.#problem === null ? 1 : 0))
    for (const outcome of OUTCOMES) {
      collector.provide('ledger_entries_total', [outcome], () => this.#earlier[outcome] + this.#counts[outcome])
    }
  }

  get state(): LedgerState {
    return { problem: this.#problem }
  }

  /** Returns the journals of dead processes, for `recover`. */
  deadJournals(): readonly DeadJournal[] {
    return this.#recovery.claim()
  }

  /** Stores the entries of journals, and removes them then; `isSaved` says whether budgets have their costs. */
  recover(journals: readonly DeadJournal[], isSaved: () => boolean): void {
    this.#recovery.recover(journals, isSaved)
  }

  /** The journals of workers by their names in the file of budgets. */
  get journals(): ReadonlyMap<string, JournalControl> {
    const instance = this.#instance
    return new Map([...this.#controls].map(([worker, control]) => [journalKey({ instance, worker }), control]))
  }

  /** Called when the file of budgets has the costs of more calls. */
  budgetsSaved(): void {
    this.#recovery.tidy()
  }

  /** Takes a message of a worker. */
  receive(worker: number, message: LedgerMessage): void {
    if (message.type === 'ledger') this.add(message.entries, { worker, batch: message.batch })
    else this.#controls.set(worker, new JournalControl(message.control))
  }

  workerEnded(worker: number): void {
    const control = this.#controls.get(worker)
    if (control !== undefined) this.#recovery.workerEnded(worker, control)
  }

  /** Takes a batch of a worker, the JSON text of its entries. */
  add(entries: string, from: Pick<UnconfirmedBatch, 'worker' | 'batch'>): void {
    if (this.#unconfirmedLength + entries.length > MOST_UNCONFIRMED) {
      this.#earlier.dropped += (JSON.parse(entries) as unknown[]).length
      return this.#reportDropped()
    }
    const serial = this.#serial++
    this.#unconfirmed.set(serial, { entries, ...from })
    this.#unconfirmedLength += entries.length
    this.#post({ type: 'add', serial, entries })
  }

  /** Resolves with the sums, or with the reason why they cannot be read. */
  usage(query: UsageQuery): Promise<UsageResult | { readonly problem: string }> {
    if (this.#closing !== null || this.#writer === null) return Promise.resolve(WRITER_GONE)
    const id = this.#questions++
    return new Promise((resolve) => {
      this.#asked.set(id, resolve)
      this.#post({ type: 'usage', id, query })
    })
  }

  /** Resolves when everything is stored or spooled, or after a time limit. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#closing = resolve
      if (this.#writer === null) return resolve()
      this.#post({ type: 'close' })
      setTimeout(resolve, CLOSE_MS).unref()
    })
    await this.#writer?.terminate()
    this.#recovery.close()
  }

  /** Logged at most once a minute; the metric has every entry. */
  #reportDropped(): void {
    const now = performance.now()
    if (now - this.#reportedAt < REPORT_MS) return
    this.#reportedAt = now
    this.#log.error('ledger entries are dropped', { cause: 'the writer of the ledger is too slow' })
  }

  #start(): Worker {
    const isSource = import.meta.url.endsWith('.ts')
    const writer = new Worker(new URL(isSource ? './writer-thread.ts' : '../ledger-writer.js', import.meta.url), {
      workerData: this.#settings,
      name: 'ledger-writer',
    })
    writer.on('message', (message: FromWriter) => this.#take(message))
    writer.on('error', (error: unknown) => this.#log.error('ledger writer died', { error: String(error) }))
    writer.on('exit', () => this.#exited())
    return writer
  }

  #take(message: FromWriter): void {
    switch (message.type) {
      case 'added':
        this.#setState(message)
        return this.#confirm(message.serial)
      case 'recovered':
        this.#setState(message)
        return this.#recovery.stored(message.file)
      case 'maintained':
        return this.#setState(message)
      case 'usage':
        this.#asked.get(message.id)?.(message.result)
        this.#asked.delete(message.id)
        return
      case 'event':
        return this.#log[message.event.level](message.event.message, message.event.fields)
    }
  }

  #confirm(serial: number): void {
    const confirmed = this.#unconfirmed.get(serial)
    if (confirmed === undefined) return
    const { entries, worker, batch } = confirmed
    this.#unconfirmedLength -= entries.length
    this.#unconfirmed.delete(serial)
    const control = this.#controls.get(worker)
    if (control !== undefined) control.confirmed = batch
  }

  #setState({ counts, problem }: WriterState): void {
    this.#counts = counts
    this.#problem = problem
  }

  #exited(): void {
    this.#writer = null
    this.#problem = WRITER_GONE.problem
    for (const answer of this.#asked.values()) answer(WRITER_GONE)
    this.#asked.clear()
    for (const outcome of OUTCOMES) this.#earlier[outcome] += this.#counts[outcome]
    this.#counts = { stored: 0, spooled: 0, dropped: 0 }
    if (this.#closing !== null) return this.#closing()
    setTimeout(() => this.#restart(), RESTART_MS).unref()
  }

  #restart(): void {
    if (this.#closing !== null) return
    this.#writer = this.#start()
    for (const [serial, { entries }] of this.#unconfirmed) this.#post({ type: 'add', serial, entries })
    this.#recovery.storeAgain()
  }

  #post(message: ToWriter): void {
    this.#writer?.postMessage(message)
  }
}

const WRITER_GONE = { problem: 'the writer of the ledger has ended' }
const OUTCOMES = ['stored', 'spooled', 'dropped'] as const
/** Characters of batches that the writer has not confirmed. */
const MOST_UNCONFIRMED = 64 * 1024 * 1024
const RESTART_MS = 1_000
const REPORT_MS = 60_000
const CLOSE_MS = 5_000
