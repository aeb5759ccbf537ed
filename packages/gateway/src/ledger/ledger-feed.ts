import { randomUUID } from 'node:crypto'
import type { LedgerEntry } from '../stores/store.ts'
import { entryOf, type LedgerRequest } from './entry.ts'

/** The recorder knows the identity of requests and clients, so that entries and records have the same. */
interface Identities<Request> {
  /** The id of the record of a request; null when requests are not recorded. */
  idOf(rx: Request): string | null
  /** The name of the client; empty for an unknown one. */
  clientOf(rx: Request): string
}

/** `entries` is the JSON text of a list. */
export interface LedgerBatch {
  readonly type: 'ledger'
  readonly entries: string
}

/** Collects the entries of one worker, and sends them in batches, because each message wakes the main thread. */
export class LedgerFeed<Request extends LedgerRequest> {
  readonly #identities: Identities<Request>
  readonly #post: (batch: LedgerBatch) => void
  #entries: LedgerEntry[] = []
  #timer: NodeJS.Timeout | null = null

  constructor(identities: Identities<Request>, post: (batch: LedgerBatch) => void) {
    this.#identities = identities
    this.#post = post
  }

  /** Called once for each request when it is over. */
  take(rx: Request): void {
    if (rx.llm === null) return
    const ids = this.#identities
    const entry = entryOf(rx, {
      id: rx.llm.ledgerId ?? ids.idOf(rx) ?? randomUUID(),
      now: Date.now(),
      key: ids.clientOf(rx),
    })
    if (entry === null) return
    this.#entries.push(entry)
    if (this.#entries.length >= MOST_ENTRIES) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), BATCH_MS)
  }

  /** Sends the entries so far; also called before the worker exits. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#entries.length === 0) return
    const entries = this.#entries
    this.#entries = []
    this.#post({ type: 'ledger', entries: JSON.stringify(entries) })
  }
}

/** The longest time that an entry waits in a worker: a killed process loses at most these entries. */
const BATCH_MS = 100
const MOST_ENTRIES = 256
