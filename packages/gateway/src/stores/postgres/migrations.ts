import type { PostgresConnection } from './connection.ts'
import type { PostgresSettings } from './postgres-settings.ts'

/**
 * The steps from an empty schema to the newest one, with the tables in the schema `portico`. A step that was released
 * never changes; new steps are appended.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE portico.ledger (
    id text PRIMARY KEY,
    at bigint NOT NULL,
    request_id text NOT NULL,
    key text NOT NULL,
    team text NOT NULL,
    route text NOT NULL,
    requested_model text NOT NULL,
    model text NOT NULL,
    provider text NOT NULL,
    operation text NOT NULL,
    status integer NOT NULL,
    input_tokens bigint,
    output_tokens bigint,
    cache_read_tokens bigint,
    cache_write_tokens bigint,
    reasoning_tokens bigint,
    nano_dollars bigint,
    basis text NOT NULL,
    provenance text NOT NULL,
    first_token_ms double precision,
    total_ms double precision NOT NULL,
    attempts integer NOT NULL,
    cache text NOT NULL,
    saved_nano_dollars bigint
  );
  CREATE INDEX ledger_at ON portico.ledger (at);
  -- Names may be too long for an index, so a hash of all groups is the key.
  CREATE TABLE portico.usage_hours (
    digest bytea PRIMARY KEY,
    hour bigint NOT NULL,
    key text NOT NULL,
    team text NOT NULL,
    route text NOT NULL,
    requested_model text NOT NULL,
    model text NOT NULL,
    provider text NOT NULL,
    operation text NOT NULL,
    status integer NOT NULL,
    basis text NOT NULL,
    cache text NOT NULL,
    calls bigint NOT NULL,
    unpriced_calls bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cache_read_tokens bigint NOT NULL,
    cache_write_tokens bigint NOT NULL,
    reasoning_tokens bigint NOT NULL,
    nano_dollars numeric,
    saved_nano_dollars numeric NOT NULL
  ) WITH (fillfactor = 70);
  CREATE INDEX usage_hours_hour ON portico.usage_hours (hour);
  CREATE TABLE portico.ledger_state (
    removed_before bigint NOT NULL
  );
  INSERT INTO portico.ledger_state VALUES (0);`,
  `CREATE TABLE portico.keys (
    name text COLLATE "C" PRIMARY KEY,
    team text COLLATE "C" NOT NULL,
    entry text NOT NULL
  );
  CREATE INDEX keys_team ON portico.keys (team, name);
  CREATE TABLE portico.teams (
    name text COLLATE "C" PRIMARY KEY,
    entry text NOT NULL
  );
  -- Changes of keys and teams in their order; \`ended\` has the hashes that were valid before a change.
  CREATE TABLE portico.audit (
    id bigint PRIMARY KEY,
    mark uuid NOT NULL DEFAULT gen_random_uuid(),
    kind text NOT NULL,
    name text NOT NULL,
    ended text NOT NULL,
    entry text NOT NULL
  );
  CREATE TABLE portico.keys_state (
    version bigint NOT NULL
  );
  INSERT INTO portico.keys_state VALUES (0);`,
  `CREATE TABLE portico.prices (
    name text COLLATE "C" PRIMARY KEY,
    entry text NOT NULL
  );`,
]

/**
 * Brings the schema to the newest version, under a lock that gateways share. Throws for the schema of a newer program.
 * A schema that is up to date needs no right to change it.
 */
export async function migrate(
  connection: PostgresConnection,
  settings: PostgresSettings,
  migrations = MIGRATIONS,
): Promise<void> {
  const { schema } = settings
  const newest = migrations.length
  if ((await versionOf(connection, settings, newest)) === newest) return
  await connection.transaction({ timeoutMs: STEP_MS }, async () => {
    await connection.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [LOCK, schema], STEP_MS)
    const version = await versionOf(connection, settings, newest)
    if (version === newest) return
    if (version === 0) {
      // `IF NOT EXISTS` needs the right to create schemas, even when there is one.
      const found = await connection.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema])
      if (found.length === 0) await connection.query(`CREATE SCHEMA ${schema}`)
      await connection.query(`CREATE TABLE ${schema}.schema_version (version integer NOT NULL)`)
      await connection.query(`INSERT INTO ${schema}.schema_version VALUES (0)`)
    }
    for (const step of migrations.slice(version)) await connection.query(inSchema(step, schema), [], STEP_MS)
    await connection.query(`UPDATE ${schema}.schema_version SET version = $1`, [newest])
  })
}

/** The version of the schema; 0 when it has no tables. */
async function versionOf(
  connection: PostgresConnection,
  { schema, database, host, port }: PostgresSettings,
  newest: number,
): Promise<number> {
  // The table is looked up by a query, because functions such as `to_regclass` may have a cached answer from before the lock.
  const found = await connection.query(
    `SELECT FROM pg_class JOIN pg_namespace AS space ON space.oid = relnamespace
      WHERE nspname = $1 AND relname = 'schema_version'`,
    [schema],
  )
  if (found.length === 0) return 0
  const [row] = await connection.query(`SELECT version FROM ${schema}.schema_version`)
  const version = Number(row?.['version'])
  if (version > newest) {
    throw new Error(
      `schema ${schema} of database ${database} at ${host}:${port} has version ${version}, and this program knows versions up to ${newest}: run the newer program, or set another schema`,
    )
  }
  return version
}

/** Replaces the schema of a text that was written for the schema `portico`. */
export function inSchema(text: string, schema: string): string {
  return text.replaceAll(/\bportico\./g, `${schema}.`)
}

/** The longest time of a step, and of waiting for the steps of another gateway. */
const STEP_MS = 60_000
/** The first half of the key of the lock: `port` in ASCII. */
const LOCK = 0x70_6f_72_74
