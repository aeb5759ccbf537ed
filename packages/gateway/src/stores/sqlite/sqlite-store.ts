import { closeSync, openSync } from 'node:fs'
import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { type LedgerEntry, type LedgerStore, MOST_GROUPS, type UsageQuery, type UsageResult } from '../store.ts'
import type { UsageSums } from '../store.ts'
import { migrate } from './migrations.ts'

/** The ledger in a SQLite file. Every call blocks its thread, so only a thread without other work may use it. */
export class SqliteStore implements LedgerStore {
  readonly #database: DatabaseSync
  readonly #insert: StatementSync
  readonly #remove: StatementSync

  /** Opens the file, or creates it, and brings its schema up to date. */
  constructor(file: string) {
    // SQLite gives its other files the mode of this one.
    closeSync(openSync(file, 'a', 0o600))
    this.#database = new DatabaseSync(file, { timeout: BUSY_MS })
    try {
      // A committed transaction survives the death of the process; a loss of power may take the last ones.
      this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
      migrate(this.#database, file)
      const names = Object.values(COLUMNS)
      const values = Object.keys(COLUMNS).map((name) => `:${name}`)
      this.#insert = this.#database.prepare(
        `INSERT INTO ledger (${names.join()}) VALUES (${values.join()}) ON CONFLICT (id) DO NOTHING`,
      )
      this.#remove = this.#database.prepare(
        'DELETE FROM ledger WHERE rowid IN (SELECT rowid FROM ledger WHERE at < ? LIMIT ?)',
      )
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  add(entries: readonly LedgerEntry[]): number {
    let added = 0
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      for (const entry of entries) added += Number(this.#insert.run({ ...entry }).changes)
      this.#database.exec('COMMIT')
      return added
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  usage({ by, since, until }: UsageQuery): UsageResult {
    const groups = by.map((name) => GROUPS[name] ?? unknownGroup(name))
    const columns = groups.map((group, i) => `${group} AS group${i}`)
    const names = groups.map((_, i) => `group${i}`)
    const order = ['nanoDollars DESC NULLS LAST', 'calls DESC', ...names]
    const statement = this.#database.prepare(
      `SELECT ${[...columns, ...SUMS].join()} FROM ledger WHERE at >= ? AND at < ?
       ${names.length === 0 ? '' : `GROUP BY ${names.join()}`} ORDER BY ${order.join()} LIMIT ${MOST_GROUPS + 1}`,
    )
    statement.setReadBigInts(true)
    const rows = statement.all(since, until)
    const sums = rows.slice(0, MOST_GROUPS).map((row) => sumsOf(row, by.length))
    // Without groups, SQL returns one row even for no calls.
    return { sums: sums.filter(({ calls }) => calls > 0), isCut: rows.length > MOST_GROUPS }
  }

  removeBefore(at: number, most: number): number {
    return Number(this.#remove.run(at, most).changes)
  }

  close(): void {
    this.#database.close()
  }
}

function sumsOf(row: Record<string, SQLOutputValue>, groups: number): UsageSums {
  const count = (name: string): number => Number(row[name] ?? 0)
  const cost = row['nanoDollars']
  return {
    group: Array.from({ length: groups }, (_, i) => String(row[`group${i}`])),
    calls: count('calls'),
    unpricedCalls: count('unpricedCalls'),
    estimatedCalls: count('estimatedCalls'),
    inputTokens: count('inputTokens'),
    outputTokens: count('outputTokens'),
    cacheReadTokens: count('cacheReadTokens'),
    cacheWriteTokens: count('cacheWriteTokens'),
    reasoningTokens: count('reasoningTokens'),
    nanoDollars: typeof cost === 'bigint' ? cost : null,
  }
}

function unknownGroup(name: string): never {
  throw new Error(`usage cannot be grouped by ${name}`)
}

/** The columns by the field of an entry. */
const COLUMNS: Readonly<Record<keyof LedgerEntry, string>> = {
  id: 'id',
  at: 'at',
  requestId: 'request_id',
  key: 'key',
  team: 'team',
  route: 'route',
  requestedModel: 'requested_model',
  model: 'model',
  provider: 'provider',
  operation: 'operation',
  status: 'status',
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  cacheReadTokens: 'cache_read_tokens',
  cacheWriteTokens: 'cache_write_tokens',
  reasoningTokens: 'reasoning_tokens',
  nanoDollars: 'nano_dollars',
  basis: 'basis',
  provenance: 'provenance',
  firstTokenMs: 'first_token_ms',
  totalMs: 'total_ms',
  attempts: 'attempts',
}

/** The expressions of the fields that usage can be grouped by. */
const GROUPS: Readonly<Record<string, string>> = {
  day: `strftime('%Y-%m-%d', at / 1000, 'unixepoch')`,
  hour: `strftime('%Y-%m-%dT%H:00Z', at / 1000, 'unixepoch')`,
  key: 'key',
  team: 'team',
  route: 'route',
  model: 'model',
  requestedModel: 'requested_model',
  provider: 'provider',
  operation: 'operation',
  status: 'status',
  basis: 'basis',
}

const SUMS = [
  'count(*) AS calls',
  'sum(nano_dollars IS NULL) AS unpricedCalls',
  `sum(basis = 'estimated') AS estimatedCalls`,
  'sum(input_tokens) AS inputTokens',
  'sum(output_tokens) AS outputTokens',
  'sum(cache_read_tokens) AS cacheReadTokens',
  'sum(cache_write_tokens) AS cacheWriteTokens',
  'sum(reasoning_tokens) AS reasoningTokens',
  'sum(nano_dollars) AS nanoDollars',
]

/** How long a write waits while another program, such as a backup, has locked the file. */
const BUSY_MS = 1_000
