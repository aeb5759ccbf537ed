import type { DatabaseSync } from 'node:sqlite'

/** The steps from an empty file to the newest schema. A step that was released never changes; new steps are appended. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE ledger (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    key TEXT NOT NULL,
    team TEXT NOT NULL,
    route TEXT NOT NULL,
    requested_model TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    operation TEXT NOT NULL,
    status INTEGER NOT NULL,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cache_read_tokens INTEGER,
    cache_write_tokens INTEGER,
    reasoning_tokens INTEGER,
    nano_dollars INTEGER,
    basis TEXT NOT NULL,
    provenance TEXT NOT NULL,
    first_token_ms REAL,
    total_ms REAL NOT NULL,
    attempts INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX ledger_at ON ledger (at);`,
  `CREATE TABLE usage_hours (
    hour INTEGER NOT NULL,
    key TEXT NOT NULL,
    team TEXT NOT NULL,
    route TEXT NOT NULL,
    requested_model TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    operation TEXT NOT NULL,
    status INTEGER NOT NULL,
    basis TEXT NOT NULL,
    calls INTEGER NOT NULL,
    unpriced_calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    dollars INTEGER,
    nanos INTEGER,
    PRIMARY KEY (hour, key, team, route, requested_model, model, provider, operation, status, basis)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO usage_hours
    SELECT at - at % 3600000 AS hour, key, team, route, requested_model, model, provider, operation, status, basis,
      count(*), sum(nano_dollars IS NULL), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
      coalesce(sum(cache_read_tokens), 0), coalesce(sum(cache_write_tokens), 0), coalesce(sum(reasoning_tokens), 0),
      sum(nano_dollars / 1000000000), sum(nano_dollars % 1000000000)
    FROM ledger
    GROUP BY hour, key, team, route, requested_model, model, provider, operation, status, basis;
  CREATE TABLE ledger_state (
    removed_before INTEGER NOT NULL
  ) STRICT;
  INSERT INTO ledger_state VALUES (0);`,
  // A primary key cannot be altered, so the sums move to a new table.
  `ALTER TABLE ledger ADD COLUMN cache TEXT NOT NULL DEFAULT '';
  ALTER TABLE ledger ADD COLUMN saved_nano_dollars INTEGER;
  CREATE TABLE usage_sums (
    hour INTEGER NOT NULL,
    key TEXT NOT NULL,
    team TEXT NOT NULL,
    route TEXT NOT NULL,
    requested_model TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    operation TEXT NOT NULL,
    status INTEGER NOT NULL,
    basis TEXT NOT NULL,
    cache TEXT NOT NULL,
    calls INTEGER NOT NULL,
    unpriced_calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    dollars INTEGER,
    nanos INTEGER,
    saved_dollars INTEGER NOT NULL,
    saved_nanos INTEGER NOT NULL,
    PRIMARY KEY (hour, key, team, route, requested_model, model, provider, operation, status, basis, cache)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO usage_sums
    SELECT hour, key, team, route, requested_model, model, provider, operation, status, basis, '', calls, unpriced_calls,
      input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, dollars, nanos, 0, 0
    FROM usage_hours;
  DROP TABLE usage_hours;
  ALTER TABLE usage_sums RENAME TO usage_hours;`,
]

/** Brings the file to the newest schema, under the write lock of the file. Throws for a schema of a newer program. */
export function migrate(database: DatabaseSync, file: string, migrations = MIGRATIONS): void {
  const newest = migrations.length
  database.exec('BEGIN IMMEDIATE')
  try {
    const version = versionOf(database)
    if (version > newest) {
      throw new Error(
        `${file} has schema version ${version}, and this program knows versions up to ${newest}: run the newer program again, or move the file away`,
      )
    }
    for (const step of migrations.slice(version)) database.exec(step)
    if (version < newest) database.exec(`PRAGMA user_version = ${newest}`)
    database.exec('COMMIT')
  } catch (error) {
    // A failed write may have ended the transaction already.
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
}
