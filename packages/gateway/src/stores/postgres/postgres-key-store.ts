import {
  type AuditEntry,
  type ChangeCursor,
  type KeyChanges,
  type KeyPage,
  type KeyStoreChange,
  type NumberedAuditEntry,
  type SharedKeyStore,
  StaleChange,
  type StoredKey,
  type StoredPrice,
  type StoredTeam,
} from '../key-store.ts'
import { PostgresConnection, type Row } from './connection.ts'
import { CHANGES, COMMIT } from './key-statements.ts'
import { inSchema, migrate } from './migrations.ts'
import type { PostgresSettings } from './postgres-settings.ts'

interface OpenOptions {
  /** Aborting it ends the connection. */
  readonly signal: AbortSignal
  /**
   * Called soon after a gateway has changed a key, a team or a price. Several changes may lead to one call, and there
   * are no calls after the connection has ended.
   */
  readonly changed: () => void
}

/** Keys, teams and prices in PostgreSQL, which several gateways share. */
export class PostgresKeyStore implements SharedKeyStore {
  readonly #connection: PostgresConnection
  readonly #schema: string

  private constructor(connection: PostgresConnection, schema: string) {
    this.#connection = connection
    this.#schema = schema
  }

  /** Connects, and brings the schema up to date. */
  static async open(settings: PostgresSettings, { signal, changed }: OpenOptions): Promise<PostgresKeyStore> {
    const { schema } = settings
    const notified = ({ payload }: { payload?: string | undefined }): void => {
      if (payload === schema) changed()
    }
    const connection = await PostgresConnection.open(settings, { signal, notified })
    try {
      await migrate(connection, settings)
      await connection.query('LISTEN portico_keys')
    } catch (error) {
      connection.close()
      throw error
    }
    return new PostgresKeyStore(connection, schema)
  }

  async key(name: string): Promise<StoredKey | null> {
    const [row] = await this.#query('SELECT entry FROM portico.keys WHERE name = $1', [name])
    return row === undefined ? null : entryIn<StoredKey>(row)
  }

  async team(name: string): Promise<StoredTeam | null> {
    const [row] = await this.#query('SELECT entry FROM portico.teams WHERE name = $1', [name])
    return row === undefined ? null : entryIn<StoredTeam>(row)
  }

  async keys({ after, limit, team }: KeyPage): Promise<StoredKey[]> {
    const [condition, values] = team === null ? ['', []] : [' AND team = $3', [team]]
    const rows = await this.#query(
      `SELECT entry FROM portico.keys WHERE name > $1${condition} ORDER BY name LIMIT $2::int`,
      [after, limit, ...values],
    )
    return rows.map((row) => entryIn<StoredKey>(row))
  }

  async teams(): Promise<StoredTeam[]> {
    const rows = await this.#query('SELECT entry FROM portico.teams ORDER BY name')
    return rows.map((row) => entryIn<StoredTeam>(row))
  }

  async prices(): Promise<StoredPrice[]> {
    const rows = await this.#query('SELECT entry FROM portico.prices ORDER BY name')
    return rows.map((row) => entryIn<StoredPrice>(row))
  }

  async version(): Promise<number> {
    const [row] = await this.#query('SELECT version FROM portico.keys_state')
    return Number(row?.['version'])
  }

  async commit(change: KeyStoreChange, entry: AuditEntry, version: number): Promise<void> {
    const { kind, name, to } = change
    const ended = change.kind === 'key' ? (change.from?.secrets ?? []).map(({ hash }) => hash) : []
    const team = change.kind === 'key' ? (change.to?.fields.team ?? '') : ''
    const text = to === null ? null : JSON.stringify(to)
    const values = [version, kind, name, team, text, JSON.stringify(ended), JSON.stringify(entry), this.#schema]
    const rows = await this.#query(COMMIT, values)
    if (rows.length === 0) throw new StaleChange()
  }

  async audit(before: number, limit: number): Promise<NumberedAuditEntry[]> {
    const rows = await this.#query(
      'SELECT id, entry FROM portico.audit WHERE id < $1::bigint ORDER BY id DESC LIMIT $2::int',
      [before, limit],
    )
    return rows.map((row) => ({ id: Number(row['id']), ...entryIn<AuditEntry>(row) }))
  }

  async cursor(): Promise<ChangeCursor> {
    const [row] = await this.#query('SELECT id, mark FROM portico.audit ORDER BY id DESC LIMIT 1')
    return row === undefined ? START : cursorIn(row)
  }

  async changesAfter({ id, mark }: ChangeCursor): Promise<KeyChanges | null> {
    const rows = await this.#query(CHANGES, [id, MOST_CHANGES + 1])
    const [first] = rows
    // The change at the cursor is missing, or another one, in a database that was restored.
    const known = id === START.id ? rows : rows.slice(1)
    if (id !== START.id && (first === undefined || cursorIn(first).mark !== mark)) return null
    const page = known.slice(0, MOST_CHANGES)
    const last = page.at(-1)
    const namesOf = (kind: string): string[] => [
      ...new Set(page.flatMap((row) => (row['kind'] === kind ? String(row['name']) : []))),
    ]
    return {
      cursor: last === undefined ? { id, mark } : cursorIn(last),
      keys: await this.#entries<StoredKey>('keys', namesOf('key')),
      teams: await this.#entries<StoredTeam>('teams', namesOf('team')),
      prices: await this.#entries<StoredPrice>('prices', namesOf('price')),
      ended: page.flatMap((row) => JSON.parse(String(row['ended'])) as string[]),
      hasMore: known.length > MOST_CHANGES,
    }
  }

  close(): void {
    this.#connection.close()
  }

  /** The entries with these names; null for those that do not exist. */
  async #entries<Entry extends { readonly name: string }>(
    table: 'keys' | 'teams' | 'prices',
    names: readonly string[],
  ): Promise<Map<string, Entry | null>> {
    const entries = new Map<string, Entry | null>(names.map((name) => [name, null]))
    if (names.length === 0) return entries
    for (const row of await this.#query(`SELECT entry FROM portico.${table} WHERE name = ANY($1::text[])`, [names])) {
      const entry = entryIn<Entry>(row)
      entries.set(entry.name, entry)
    }
    return entries
  }

  #query(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#connection.query(inSchema(text, this.#schema), values)
  }
}

function entryIn<Entry>(row: Row): Entry {
  return JSON.parse(String(row['entry'])) as Entry
}

function cursorIn(row: Row): ChangeCursor {
  return { id: Number(row['id']), mark: String(row['mark']) }
}

/** The cursor before the first change. */
const START: ChangeCursor = { id: 0, mark: '' }
const MOST_CHANGES = 1_000
