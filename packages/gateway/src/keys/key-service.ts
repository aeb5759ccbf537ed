import {
  type ChangeCursor,
  isShared,
  type KeyChanges,
  type KeyStore,
  type SharedKeyStore,
} from '../stores/key-store.ts'
import { answerQuestion, type OpenStore } from './answer-question.ts'
import type { KeyAnswer, KeyQuestion, KeyStoreState } from './key-messages.ts'
import { KeyProblem } from './key-problem.ts'
import { KeyRegistry } from './key-registry.ts'
import { PriceRegistry } from './price-registry.ts'
import { FAILED, LOADING, OPEN } from './table/key-table.ts'
import type { KeyTableWriter } from './table/key-table-writer.ts'
import { TeamRegistry } from './team-registry.ts'

interface ServiceParts {
  /** Opens the store; throws when the store cannot be used. */
  open(): KeyStore | Promise<KeyStore>
  readonly table: KeyTableWriter
  /** How long keys of a shared store are accepted after the last look at the store. */
  readonly graceMs: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of a clock that nobody sets. */
  readonly monotonic: () => number
  report(state: KeyStoreState): void
  /** Called when there is no room for keys of other gateways. */
  reportFull(): void
}

/**
 * Keeps the table that workers read equal to the store of keys: keys, teams and prices are loaded when the store opens,
 * and changes by other gateways follow. Calls of `maintain`, `answer` and `close` must not overlap: the caller awaits
 * each one.
 */
export class KeyService {
  readonly #parts: ServiceParts
  #open: OpenStore | null = null
  #problem: string | null = null
  /** The last change of a shared store that the table has; null while the table is empty. */
  #cursor: ChangeCursor | null = null
  /** When the table was last like the shared store, on the monotonic clock. */
  #seenAt = 0
  /** When the store is opened again at the earliest. */
  #retryAt = -Infinity

  constructor(parts: ServiceParts) {
    this.#parts = parts
  }

  /** Opens a store that is not open, or takes over the changes of other gateways; called again and again. */
  async maintain(): Promise<void> {
    const open = this.#open
    if (open === null) return this.#tryOpen()
    if (!isShared(open.store)) return
    try {
      await this.#follow(open, open.store)
    } catch (error) {
      await this.#failed(error, open.store)
    }
  }

  async answer(question: KeyQuestion): Promise<KeyAnswer> {
    const open = this.#open
    if (open === null) {
      return { refused: { status: 503, message: `the store of keys cannot be used: ${this.#problem ?? ''}` } }
    }
    try {
      const value = await answerQuestion(open, question)
      if (CHANGES.has(question.ask)) this.#tell()
      return { value }
    } catch (error) {
      if (error instanceof KeyProblem) return { refused: { status: error.status, message: error.message } }
      return { refused: { status: 503, message: `the store of keys failed: ${textOf(error)}` } }
    }
  }

  async close(): Promise<void> {
    await this.#open?.store.close()
    this.#open = null
  }

  async #tryOpen(): Promise<void> {
    this.#endGrace()
    if (this.#parts.monotonic() < this.#retryAt) return
    let store: KeyStore | null = null
    try {
      store = await this.#parts.open()
      const parts = { store, table: this.#parts.table, now: this.#parts.now }
      const teams = new TeamRegistry(parts)
      const open = { store, teams, keys: new KeyRegistry(parts, teams), prices: new PriceRegistry(parts) }
      if (isShared(store)) await this.#follow(open, store)
      else await this.#load(open)
      this.#open = open
      this.#problem = null
      this.#parts.table.setState(OPEN)
      this.#tell()
    } catch (error) {
      await this.#failed(error, store)
    }
  }

  /** Brings the table up to date: by the changes since the last look, or from the beginning. */
  async #follow(open: OpenStore, store: SharedKeyStore): Promise<void> {
    const { monotonic } = this.#parts
    let seenAt = monotonic()
    for (let cursor = this.#cursor; ;) {
      const changes = cursor === null ? null : await store.changesAfter(cursor)
      if (changes === null) {
        // The next look finds what changes while all is read.
        cursor = await store.cursor()
        this.#cursor = null
        await this.#load(open)
        this.#parts.table.setState(OPEN)
      } else {
        this.#receive(open, changes)
        cursor = changes.cursor
      }
      this.#cursor = cursor
      this.#seenAt = seenAt
      if (changes?.hasMore === false) return
      seenAt = monotonic()
    }
  }

  #receive({ keys, teams, prices }: OpenStore, changes: KeyChanges): void {
    if (changes.keys.size + changes.teams.size + changes.prices.size === 0) return
    // A key needs its team, so teams come before keys, and go after them.
    const isComplete = [
      teams.receive(changes.teams),
      keys.receive(changes.keys, changes.ended),
      prices.receive(changes.prices),
    ].every(Boolean)
    teams.removeGone(changes.teams)
    if (!isComplete) this.#parts.reportFull()
    this.#tell()
  }

  async #load({ keys, teams, prices }: OpenStore): Promise<void> {
    this.#parts.table.clear(LOADING)
    await teams.load()
    await keys.load()
    await prices.load()
  }

  /** Keys of a shared store that are loaded stay for a while; others are refused. */
  async #failed(error: unknown, store: KeyStore | null): Promise<void> {
    const { table, monotonic } = this.#parts
    this.#open = null
    this.#retryAt = monotonic() + RETRY_MS
    if (this.#cursor === null) table.clear(FAILED)
    else table.setState(FAILED)
    const problem = textOf(error)
    const isNew = problem !== this.#problem
    this.#problem = problem
    this.#endGrace()
    if (isNew) this.#tell()
    try {
      await store?.close()
    } catch {
      // The failure that closed the store is reported already.
    }
  }

  /** Refuses all keys once the store has failed for too long. */
  #endGrace(): void {
    const left = this.#graceLeft
    if (left === null || left > 0) return
    this.#cursor = null
    this.#parts.table.clear(FAILED)
    this.#tell()
  }

  /** The rest of the time in which loaded keys are accepted; null while the store works, and when none is accepted. */
  get #graceLeft(): number | null {
    const { graceMs, monotonic } = this.#parts
    return this.#problem === null || this.#cursor === null ? null : this.#seenAt + graceMs - monotonic()
  }

  get #state(): KeyStoreState {
    const { table, now } = this.#parts
    const left = this.#graceLeft
    return { problem: this.#problem, entries: table.count, validUntil: left === null ? null : now() + Math.round(left) }
  }

  #tell(): void {
    this.#parts.report(this.#state)
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const CHANGES: ReadonlySet<KeyQuestion['ask']> = new Set(['changeKey', 'changeTeam', 'changePrice'])
/** A store that fails is tried again after this time; loading many keys is work. */
const RETRY_MS = 1_000
