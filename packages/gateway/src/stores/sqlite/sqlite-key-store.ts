import { closeSync, openSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type AuditEntry, type KeyPage, type KeyStore, type KeyStoreChange, StaleChange } from '../key-store.ts'
import type { NumberedAuditEntry, StoredKey, StoredPrice, StoredTeam } from '../key-store.ts'
import { KEY_MIGRATIONS } from './key-migrations.ts'
import { migrate } from './migrations.ts'

/** Keys, teams and prices in a SQLite file. Every call blocks its thread. */
export class SqliteKeyStore implements KeyStore {
  readonly #database: DatabaseSync
  readonly #key: StatementSync
  readonly #team: StatementSync

  /** Opens the file, or creates it, and brings its schema up to date. */
  constructor(file: string) {
    // SQLite gives its other files the mode of this one.
    closeSync(openSync(file, 'a', 0o600))
    this.#database = new DatabaseSync(file, { timeout: BUSY_MS })
    try {
      // A key that was revoked must stay revoked after a loss of power.
      this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
      migrate(this.#database, file, KEY_MIGRATIONS)
      this.#key = this.#database.prepare('SELECT entry FROM keys WHERE name = ?')
      this.#team = this.#database.prepare('SELECT entry FROM teams WHERE name = ?')
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  key(name: string): StoredKey | null {
    return entryIn<StoredKey>(this.#key.get(name))
  }

  team(name: string): StoredTeam | null {
    return entryIn<StoredTeam>(this.#team.get(name))
  }

  keys({ after, limit, team }: KeyPage): StoredKey[] {
    const [condition, values] = team === null ? ['', []] : [' AND team = ?', [team]]
    const statement = this.#database.prepare(
      `SELECT entry FROM keys WHERE name > ?${condition} ORDER BY name LIMIT ${limit}`,
    )
    return statement.all(after, ...values).flatMap((row) => entryIn<StoredKey>(row) ?? [])
  }

  teams(): StoredTeam[] {
    const rows = this.#database.prepare('SELECT entry FROM teams ORDER BY name').all()
    return rows.flatMap((row) => entryIn<StoredTeam>(row) ?? [])
  }

  prices(): StoredPrice[] {
    const rows = this.#database.prepare('SELECT entry FROM prices ORDER BY name').all()
    return rows.flatMap((row) => entryIn<StoredPrice>(row) ?? [])
  }

  version(): number {
    return Number(this.#database.prepare('SELECT max(id) AS version FROM audit').get()?.['version'] ?? 0)
  }

  commit(change: KeyStoreChange, entry: AuditEntry, version: number): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      if (this.version() !== version) throw new StaleChange()
      this.#write(change)
      this.#database.prepare('INSERT INTO audit (entry) VALUES (?)').run(JSON.stringify(entry))
      this.#database.exec('COMMIT')
    } catch (error) {
      // A failed write may have ended the transaction already.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  audit(before: number, limit: number): NumberedAuditEntry[] {
    const rows = this.#database
      .prepare('SELECT id, entry FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?')
      .all(before, limit)
    return rows.flatMap((row) => {
      const entry = entryIn<AuditEntry>(row)
      return entry === null ? [] : [{ id: Number(row['id']), ...entry }]
    })
  }

  close(): void {
    this.#database.close()
  }

  #write(change: KeyStoreChange): void {
    if (change.kind === 'cache') return
    const table = TABLES[change.kind]
    if (change.to === null) {
      this.#database.prepare(`DELETE FROM ${table} WHERE name = ?`).run(change.name)
    } else if (change.kind === 'key') {
      this.#database
        .prepare('INSERT OR REPLACE INTO keys (name, team, entry) VALUES (?, ?, ?)')
        .run(change.name, change.to.fields.team ?? '', JSON.stringify(change.to))
    } else {
      this.#database
        .prepare(`INSERT OR REPLACE INTO ${table} (name, entry) VALUES (?, ?)`)
        .run(change.name, JSON.stringify(change.to))
    }
  }
}

function entryIn<Entry>(row: Record<string, unknown> | undefined): Entry | null {
  return row === undefined ? null : (JSON.parse(String(row['entry'])) as Entry)
}

const TABLES = { key: 'keys', team: 'teams', price: 'prices' } as const
/** How long a write waits while another program, such as a backup, has locked the file. */
const BUSY_MS = 1_000
