import type { Deadlines, Sink } from '@portico/http'
import { contained } from '@portico/http/faults'
import { randomUUID } from 'node:crypto'
import type { SettlingGate } from '../stores/budgets/budget-store.ts'
import type { Settlement } from '../stores/budgets/settlement.ts'
import { entryOf, type LedgerRequest } from './entry.ts'
import { journalLine } from './entry-lines.ts'
import type { WorkerJournal } from './journal.ts'
import { type EndOwner, LastBytes } from './last-bytes.ts'

/** The recorder knows the identity of requests and clients, so that entries and records have the same. */
export interface Identities<Request> {
  /** The id of the record of a request; null when requests are not recorded. */
  idOf(rx: Request): string | null
  /** The name of the client; empty for an unknown one. */
  clientOf(rx: Request): string
}

/** `entries` is the JSON text of a list; `batch` counts the batches of the worker. */
export interface LedgerBatch {
  readonly type: 'ledger'
  readonly entries: string
  readonly batch: number
}

/** A request whose cost goes to budgets and to the ledger. */
export interface ChargedRequest extends LedgerRequest {
  /** The budgets of the request; null without any. */
  readonly spending: { finish(rx: LedgerRequest, record?: Settlement[]): void } | null
}

interface FeedParts {
  readonly deadlines: Deadlines
  /** Null where entries are only kept in memory until they are stored. */
  readonly journal: WorkerJournal | null
  post(batch: LedgerBatch): void
}

/**
 * Makes the entries of one worker: each is in the journal before the client gets the end of its response, and is sent to
 * the main thread with others, because each message wakes the main thread.
 */
export class LedgerFeed<Request extends ChargedRequest> {
  readonly #identities: Identities<Request>
  readonly #parts: FeedParts
  #entries: string[] = []
  #batches = 0
  #timer: NodeJS.Timeout | null = null

  constructor(identities: Identities<Request>, parts: FeedParts) {
    this.#identities = identities
    this.#parts = parts
  }

  /** Lets reservations wait while the amounts of budgets are saved; null without a journal. */
  get settling(): SettlingGate | null {
    return this.#parts.journal?.control ?? null
  }

  /** Returns a sink for a response, which tells `owner` before the client can take the response for complete. */
  watchEnd(sink: Sink, length: number, owner: EndOwner): LastBytes {
    return new LastBytes(sink, length, owner, this.#parts.deadlines)
  }

  /**
   * Settles the budgets of a request and keeps its entry; called once for each request: before the last bytes of its
   * response, or when it ends without.
   */
  charge(rx: Request): void {
    const { journal } = this.#parts
    if (journal === null) {
      if (rx.spending !== null) contained('request', () => rx.spending?.finish(rx))
      const entry = this.#entryOf(rx)
      if (entry !== null) this.#keep(entry)
      return
    }
    const { control } = journal
    control.enter()
    try {
      const settlements: Settlement[] = []
      if (rx.spending !== null) contained('request', () => rx.spending?.finish(rx, settlements))
      const entry = this.#entryOf(rx)
      if (entry === null) return
      const isInMemory = settlements.some(({ kind }) => kind === 'memory')
      const line = isInMemory ? control.number() : 0
      journal.append(journalLine(entry, settlements.length === 0 ? null : { line, settlements }))
      this.#keep(entry)
    } finally {
      control.leave()
    }
  }

  /** Sends the entries so far; also called before the worker exits. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const { journal } = this.#parts
    if (this.#entries.length > 0) {
      const entries = `[${this.#entries.join()}]`
      this.#entries = []
      const batch = ++this.#batches
      this.#parts.post({ type: 'ledger', entries, batch })
      journal?.posted(batch)
    }
    // The lines of the last calls are removed once they are stored.
    if (journal?.tidy() === true) this.#timer = setTimeout(() => this.flush(), BATCH_MS).unref()
  }

  /** Called before the worker exits, after `flush`. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#parts.journal?.close()
  }

  /** Returns the JSON text of the entry; null when no model was called. */
  #entryOf(rx: Request): string | null {
    if (rx.llm === null) return null
    const ids = this.#identities
    const entry = entryOf(rx, {
      id: rx.llm.ledgerId ?? ids.idOf(rx) ?? randomUUID(),
      now: Date.now(),
      key: ids.clientOf(rx),
    })
    return entry === null ? null : JSON.stringify(entry)
  }

  #keep(entry: string): void {
    this.#entries.push(entry)
    if (this.#entries.length === MOST_ENTRIES) setImmediate(() => this.flush())
    if (this.#timer === null) this.#timer = setTimeout(() => this.flush(), BATCH_MS)
  }
}

/** The longest time that an entry waits in a worker. */
const BATCH_MS = 100
const MOST_ENTRIES = 256
