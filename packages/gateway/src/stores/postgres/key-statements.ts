/**
 * Stores a change if the keys have version $1, and returns a row then. All gateways count their changes in one row, so a
 * change that was checked against older keys is found, and changes have their numbers in the order of their commits.
 */
export const COMMIT = `WITH next AS (
  UPDATE portico.keys_state SET version = version + 1 WHERE version = $1::bigint RETURNING version
), put_key AS (
  INSERT INTO portico.keys (name, team, entry) SELECT $3, $4, $5 FROM next WHERE $2 = 'key' AND $5::text IS NOT NULL
  ON CONFLICT (name) DO UPDATE SET team = excluded.team, entry = excluded.entry
), put_team AS (
  INSERT INTO portico.teams (name, entry) SELECT $3, $5 FROM next WHERE $2 = 'team' AND $5::text IS NOT NULL
  ON CONFLICT (name) DO UPDATE SET entry = excluded.entry
), put_price AS (
  INSERT INTO portico.prices (name, entry) SELECT $3, $5 FROM next WHERE $2 = 'price' AND $5::text IS NOT NULL
  ON CONFLICT (name) DO UPDATE SET entry = excluded.entry
), removed_key AS (
  DELETE FROM portico.keys WHERE name = $3 AND $2 = 'key' AND $5::text IS NULL AND EXISTS (SELECT FROM next)
), removed_team AS (
  DELETE FROM portico.teams WHERE name = $3 AND $2 = 'team' AND $5::text IS NULL AND EXISTS (SELECT FROM next)
), removed_price AS (
  DELETE FROM portico.prices WHERE name = $3 AND $2 = 'price' AND $5::text IS NULL AND EXISTS (SELECT FROM next)
), logged AS (
  INSERT INTO portico.audit (id, kind, name, ended, entry) SELECT version, $2, $3, $6, $7 FROM next
)
SELECT pg_notify('portico_keys', $8) FROM next`

/** The change with the number $1, and up to $2 after it. */
export const CHANGES = `SELECT id, mark, kind, name, ended FROM portico.audit WHERE id >= $1::bigint
  ORDER BY id LIMIT $2::int + 1`
