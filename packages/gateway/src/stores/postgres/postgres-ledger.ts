import { ADDED_FIELDS, LEDGER_COLUMNS } from '../ledger-columns.ts'
import type { LedgerEntry, LedgerStore, UsageQuery, UsageResult } from '../store.ts'
import { PostgresConnection } from './connection.ts'
import { ADD_ENTRIES, REMOVE_ENTRIES, REMOVE_SUMS } from './ledger-statements.ts'
import { inSchema, migrate } from './migrations.ts'
import type { PostgresSettings } from './postgres-settings.ts'
import { queryUsage } from './usage-query.ts'

/** The ledger in PostgreSQL, which several gateways share. Queries have their own connection: entries never wait for them. */
export class PostgresLedger implements LedgerStore {
  readonly #settings: PostgresSettings
  readonly #signal: AbortSignal
  readonly #writes: PostgresConnection
  #reads: PostgresConnection | null = null
  /** Queries run one after the other. */
  #lastQuery: Promise<unknown> = Promise.resolve()

  private constructor(settings: PostgresSettings, signal: AbortSignal, writes: PostgresConnection) {
    this.#settings = settings
    this.#signal = signal
    this.#writes = writes
  }

  /** Connects, and brings the schema up to date. Aborting the signal ends all connections. */
  static async open(settings: PostgresSettings, signal: AbortSignal): Promise<PostgresLedger> {
    const writes = await PostgresConnection.open(settings, { signal })
    try {
      await migrate(writes, settings)
    } catch (error) {
      writes.close()
      throw error
    }
    return new PostgresLedger(settings, signal, writes)
  }

  add(entries: readonly LedgerEntry[]): Promise<number> {
    return this.#change(ADD_ENTRIES, 'added', [JSON.stringify(entries.map(rowOf))])
  }

  usage(query: UsageQuery): Promise<UsageResult> {
    const result = this.#lastQuery.then(() => this.#query(query))
    this.#lastQuery = result.catch(() => {})
    return result
  }

  removeBefore(at: number, most: number): Promise<number> {
    return this.#change(REMOVE_ENTRIES, 'removed', [at, most])
  }

  removeSumsBefore(at: number, most: number): Promise<number> {
    return this.#change(REMOVE_SUMS, 'removed', [at, most])
  }

  close(): void {
    this.#writes.close()
    this.#reads?.close()
  }

  async #change(text: string, count: string, values: readonly unknown[]): Promise<number> {
    const [row] = await this.#writes.query(inSchema(text, this.#settings.schema), values)
    return Number(row?.[count] ?? 0)
  }

  async #query(query: UsageQuery): Promise<UsageResult> {
    if (this.#reads?.isOpen !== true) {
      this.#reads = await PostgresConnection.open(this.#settings, { signal: this.#signal })
      // The store was closed in the meantime.
      if (!this.#writes.isOpen) this.#reads.close()
    }
    return queryUsage(this.#reads, query, { schema: this.#settings.schema, timeoutMs: QUERY_MS })
  }
}

/** An entry by column. PostgreSQL has no texts with U+0000 or half of a character, and clients choose the names of models. */
function rowOf(entry: LedgerEntry): Record<string, unknown> {
  const values: Readonly<Record<string, unknown>> = { ...ADDED_FIELDS, ...entry }
  return Object.fromEntries(
    Object.entries(LEDGER_COLUMNS).map(([field, column]) => {
      const value = values[field]
      return [column, typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value]
    }),
  )
}

/** The longest time that a query for usage takes; entries are written meanwhile. */
const QUERY_MS = 30_000
