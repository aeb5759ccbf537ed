import type { LedgerEntry, LedgerStore, UsageQuery, UsageResult } from '../stores/store.ts'
import { deliverEntries, readEntryFile } from './entry-file.ts'
import { MOST_JOURNAL_BYTES } from './journal-files.ts'
import type { Spool } from './spool.ts'

/** Counts entries by outcome. An entry that was spooled counts again when it is stored. */
export interface EntryCounts {
  stored: number
  spooled: number
  dropped: number
}

/** An event for the log. */
export interface WriterEvent {
  readonly level: 'info' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

interface WriterParts {
  /** Opens the store; throws when the store cannot be used. Entries are spooled while it takes long. */
  open(): LedgerStore | Promise<LedgerStore>
  spool: Spool
  retentionMs: number
  /** How long the sums of hours are stored. */
  rollupRetentionMs: number
  /** Milliseconds since 1970. */
  now(): number
  report(event: WriterEvent): void
  /** Called when all entries of a journal are stored. */
  recovered(file: string): void
}

/**
 * Writes batches of entries to the store. While the store fails, batches go to the spool, and are delivered once the
 * store works again. Calls must not overlap: the caller awaits each one.
 */
export class LedgerWriter {
  readonly #parts: WriterParts
  #store: LedgerStore | null = null
  /** Resolves when the store is open, or cannot be opened; null when it is not being opened. */
  #opening: Promise<void> | null = null
  /** Why the store cannot be used; null while it works. */
  #problem: string | null = null
  #reportedAt = -Infinity
  #droppedAt = -Infinity
  /** Journals of workers that have ended, which are not stored yet. */
  readonly #journals: string[] = []
  readonly counts: EntryCounts = { stored: 0, spooled: 0, dropped: 0 }

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  /** Stores or spools a batch, the JSON text of its entries. */
  async add(batch: string): Promise<void> {
    const entries = JSON.parse(batch) as LedgerEntry[]
    if (this.#store !== null) {
      try {
        this.counts.stored += await this.#store.add(entries)
        return
      } catch (error) {
        await this.#failed(error)
      }
    }
    if (this.#parts.spool.keep(batch)) this.counts.spooled += entries.length
    else this.#drop(entries.length, 'the spool is full')
  }

  /** Stores the entries of a journal whose worker has ended, as soon as the store works. */
  async recover(file: string): Promise<void> {
    this.#journals.push(file)
    await this.maintain()
  }

  /** Why the store cannot be used; null while it works. */
  get problem(): string | null {
    return this.#problem
  }

  /** Opens a store that is not open, delivers the spool and removes old entries; called at the start and every second. */
  async maintain(): Promise<void> {
    const { spool, retentionMs, rollupRetentionMs } = this.#parts
    const now = this.#parts.now()
    if (this.#store === null) await this.#open()
    const store = this.#store
    if (store === null) return
    try {
      if (!spool.isEmpty) await this.#deliverSpool(store)
      while (this.#journals.length > 0) await this.#deliverJournal(store)
      await store.removeBefore(now - retentionMs, MOST_REMOVED)
      await store.removeSumsBefore(now - Math.max(retentionMs, rollupRetentionMs), MOST_REMOVED)
      if (this.#problem !== null) this.#report('info', 'ledger store works again')
      this.#problem = null
    } catch (error) {
      await this.#failed(error)
    }
  }

  /** Throws when the store cannot be used. */
  async usage(query: UsageQuery): Promise<UsageResult> {
    await this.#opening
    if (this.#store === null) throw new Error(this.#problem ?? 'the ledger is not open yet')
    return this.#store.usage(query)
  }

  async close(): Promise<void> {
    const { spool } = this.#parts
    if (!spool.isEmpty || this.#journals.length > 0) await this.maintain()
    await this.#opening
    if (spool.isVolatile) this.#report('error', 'ledger entries are lost, neither store nor spool could be written')
    await this.#store?.close()
    this.#store = null
  }

  /** Opens the store, and waits a moment for it: a server that does not answer must not hold up entries. */
  async #open(): Promise<void> {
    this.#opening ??= this.#opened().finally(() => (this.#opening = null))
    const moment = Promise.withResolvers<void>()
    const timer = setTimeout(moment.resolve, OPEN_WAIT_MS)
    await Promise.race([this.#opening, moment.promise])
    clearTimeout(timer)
  }

  async #opened(): Promise<void> {
    try {
      this.#store = await this.#parts.open()
    } catch (error) {
      await this.#failed(error)
    }
  }

  async #deliverSpool(store: LedgerStore): Promise<void> {
    const before = this.counts.stored
    const unreadable = await this.#parts.spool.drain((entries) => this.#addAll(store, entries))
    if (unreadable > 0) this.#report('error', 'ledger spool has an unfinished line, which is skipped')
    this.#report('info', 'ledger spool delivered', { entries: this.counts.stored - before })
  }

  /** A journal stays until all of its entries are stored. A file that cannot be read stays, too. */
  async #deliverJournal(store: LedgerStore): Promise<void> {
    const [file = ''] = this.#journals
    const before = this.counts.stored
    let text: string
    try {
      text = readEntryFile(file, MOST_JOURNAL_BYTES)
    } catch (error) {
      this.#journals.shift()
      return this.#report('error', 'ledger journal cannot be read', { file, error: messageOf(error) })
    }
    const unreadable = await deliverEntries(text, (entries) => this.#addAll(store, entries))
    this.#journals.shift()
    const entries = this.counts.stored - before
    if (unreadable > 0) this.#report('info', 'ledger journal has an unfinished line, which is skipped', { file })
    if (entries > 0) this.#report('info', 'ledger journal delivered', { file, entries })
    this.#parts.recovered(file)
  }

  async #addAll(store: LedgerStore, entries: readonly LedgerEntry[]): Promise<void> {
    this.counts.stored += await store.add(entries)
  }

  /** Closes the store, so that `maintain` opens it again. The same failure is reported once a minute. */
  async #failed(error: unknown): Promise<void> {
    const problem = messageOf(error)
    const isKnown = problem === this.#problem && this.#parts.now() - this.#reportedAt < REPORT_MS
    this.#problem = problem
    if (!isKnown) {
      this.#reportedAt = this.#parts.now()
      this.#report('error', 'ledger store failed, entries are spooled', { error: problem })
    }
    const store = this.#store
    this.#store = null
    try {
      await store?.close()
    } catch {
      // The failure that closed the store is reported already.
    }
  }

  #drop(count: number, why: string): void {
    this.counts.dropped += count
    const now = this.#parts.now()
    if (now - this.#droppedAt < REPORT_MS) return
    this.#droppedAt = now
    this.#report('error', 'ledger entries are dropped', { cause: why, dropped: this.counts.dropped })
  }

  #report(level: WriterEvent['level'], message: string, fields: WriterEvent['fields'] = {}): void {
    this.#parts.report({ level, message, fields })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Old entries are removed in portions, so that new ones do not wait long. */
const MOST_REMOVED = 10_000
const OPEN_WAIT_MS = 100
const REPORT_MS = 60_000
