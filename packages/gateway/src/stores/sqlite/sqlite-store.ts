import { closeSync, openSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { LedgerEntry, LedgerStore, UsageQuery, UsageResult } from '../store.ts'
import { ADDED_FIELDS, LEDGER_COLUMNS } from '../ledger-columns.ts'
import { HourlySums } from './hourly-sums.ts'
import { migrate } from './migrations.ts'
import { queryUsage } from './usage-query.ts'

/** The ledger in a SQLite file. Every call blocks its thread, so only a thread without other work may use it. */
export class SqliteStore implements LedgerStore {
  readonly #database: DatabaseSync
  readonly #insert: StatementSync
  readonly #oldest: StatementSync
  readonly #remove: StatementSync
  readonly #hours: HourlySums

  /** Opens the file, or creates it, and brings its schema up to date. */
  constructor(file: string) {
    // SQLite gives its other files the mode of this one.
    closeSync(openSync(file, 'a', 0o600))
    this.#database = new DatabaseSync(file, { timeout: BUSY_MS })
    try {
      // A committed transaction survives the death of the process; a loss of power may take the last ones.
      this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
      migrate(this.#database, file)
      const names = Object.values(LEDGER_COLUMNS)
      this.#insert = this.#database.prepare(
        `INSERT INTO ledger (${names.join()}) VALUES (${names.map(() => '?').join()}) ON CONFLICT (id) DO NOTHING`,
      )
      this.#hours = new HourlySums(this.#database)
      this.#oldest = this.#database.prepare('SELECT 1 FROM ledger WHERE at < ? LIMIT 1')
      this.#remove = this.#database.prepare(
        'DELETE FROM ledger WHERE rowid IN (SELECT rowid FROM ledger WHERE at < ? LIMIT ?)',
      )
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  add(entries: readonly LedgerEntry[]): number {
    return this.#transaction(() => {
      const added: LedgerEntry[] = []
      for (const each of entries) {
        const entry = { ...ADDED_FIELDS, ...each }
        if (this.#insert.run(...FIELDS.map((name) => entry[name])).changes !== 0) added.push(entry)
      }
      this.#hours.add(added)
      return added.length
    })
  }

  usage(query: UsageQuery): UsageResult {
    return queryUsage(this.#database, query, this.#removedBefore())
  }

  removeBefore(at: number, most: number): number {
    // Most calls find nothing, and must not wait for the lock of the file.
    if (this.#oldest.get(at) === undefined) return 0
    return this.#transaction(() => {
      const removed = Number(this.#remove.run(at, most).changes)
      if (removed > 0) this.#database.prepare('UPDATE ledger_state SET removed_before = max(removed_before, ?)').run(at)
      return removed
    })
  }

  removeSumsBefore(at: number, most: number): number {
    return this.#hours.removeBefore(at, most)
  }

  close(): void {
    this.#database.close()
  }

  #removedBefore(): number {
    return Number(this.#database.prepare('SELECT removed_before FROM ledger_state').get()?.['removed_before'] ?? 0)
  }

  #transaction<Result>(run: () => Result): Result {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const result = run()
      this.#database.exec('COMMIT')
      return result
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }
}

const FIELDS = Object.keys(LEDGER_COLUMNS) as (keyof LedgerEntry)[]

/** How long a write waits while another program, such as a backup, has locked the file. */
const BUSY_MS = 1_000
