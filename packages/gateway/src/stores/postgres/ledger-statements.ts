import { LEDGER_COLUMNS } from '../ledger-columns.ts'
import { GROUP_COLUMNS, HOUR_MS, TOKEN_COLUMNS } from '../usage-columns.ts'

const TYPES: Readonly<Record<string, string>> = {
  at: 'bigint',
  status: 'integer',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  cache_read_tokens: 'bigint',
  cache_write_tokens: 'bigint',
  reasoning_tokens: 'bigint',
  nano_dollars: 'bigint',
  first_token_ms: 'double precision',
  total_ms: 'double precision',
  attempts: 'integer',
  saved_nano_dollars: 'bigint',
}
const ENTRY_COLUMNS = Object.values(LEDGER_COLUMNS)
const SUM_COLUMNS = ['calls', 'unpriced_calls', ...TOKEN_COLUMNS, 'saved_nano_dollars']
const DIGEST = `sha256(convert_to(json_build_array(hour, ${GROUP_COLUMNS.join()})::text, 'UTF8'))`

/**
 * Adds the entries of a JSON list, and their sums; returns the number of new entries. It is one statement, so a gateway
 * that stops in the middle leaves no transaction open, whose locks others would wait for. Rows are locked in one order.
 */
export const ADD_ENTRIES = `WITH given AS (
  SELECT * FROM ROWS FROM (
    json_to_recordset($1) AS (${ENTRY_COLUMNS.map((name) => `${name} ${TYPES[name] ?? 'text'}`).join()})
  ) WITH ORDINALITY
), added AS (
  INSERT INTO portico.ledger (${ENTRY_COLUMNS.join()})
  SELECT ${ENTRY_COLUMNS.join()} FROM given ORDER BY id, ordinality
  ON CONFLICT (id) DO NOTHING
  RETURNING *
), grouped AS (
  SELECT at - at % ${HOUR_MS} AS hour, ${GROUP_COLUMNS.join()}, count(*) AS calls,
    count(*) FILTER (WHERE nano_dollars IS NULL) AS unpriced_calls,
    ${TOKEN_COLUMNS.map((name) => `coalesce(sum(${name}), 0) AS ${name}`).join()},
    sum(nano_dollars) AS nano_dollars, coalesce(sum(saved_nano_dollars), 0) AS saved_nano_dollars
  FROM added GROUP BY hour, ${GROUP_COLUMNS.join()}
), summed AS (
  INSERT INTO portico.usage_hours AS old (digest, hour, ${GROUP_COLUMNS.join()}, nano_dollars, ${SUM_COLUMNS.join()})
  SELECT ${DIGEST} AS digest, hour, ${GROUP_COLUMNS.join()}, nano_dollars, ${SUM_COLUMNS.join()} FROM grouped
  ORDER BY digest
  ON CONFLICT (digest) DO UPDATE SET
    ${SUM_COLUMNS.map((name) => `${name} = old.${name} + excluded.${name}`).join()},
    nano_dollars = coalesce(old.nano_dollars + excluded.nano_dollars, old.nano_dollars, excluded.nano_dollars)
)
SELECT count(*) AS added FROM added`

/** Removes up to $2 entries before $1; returns their number. Gateways that remove at the same time take different ones. */
export const REMOVE_ENTRIES = `WITH removed AS (
  DELETE FROM portico.ledger WHERE id IN (
    SELECT id FROM portico.ledger WHERE at < $1::bigint ORDER BY at LIMIT $2::bigint FOR UPDATE SKIP LOCKED
  )
  RETURNING 1
), state AS (
  UPDATE portico.ledger_state SET removed_before = $1::bigint WHERE removed_before < $1::bigint AND EXISTS (SELECT FROM removed)
)
SELECT count(*) AS removed FROM removed`

/** Removes up to $2 sums of hours that ended before $1; returns their number. */
export const REMOVE_SUMS = `WITH removed AS (
  DELETE FROM portico.usage_hours WHERE digest IN (
    SELECT digest FROM portico.usage_hours WHERE hour <= $1::bigint - ${HOUR_MS} ORDER BY hour LIMIT $2::bigint FOR UPDATE SKIP LOCKED
  )
  RETURNING 1
)
SELECT count(*) AS removed FROM removed`
