/** The steps from an empty file of keys to the newest schema; see `migrations.ts`. */
export const KEY_MIGRATIONS: readonly string[] = [
  `CREATE TABLE keys (
    name TEXT PRIMARY KEY,
    team TEXT NOT NULL,
    entry TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX keys_team ON keys (team, name);
  CREATE TABLE teams (
    name TEXT PRIMARY KEY,
    entry TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    entry TEXT NOT NULL
  ) STRICT;`,
  `CREATE TABLE prices (
    name TEXT PRIMARY KEY,
    entry TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;`,
]
