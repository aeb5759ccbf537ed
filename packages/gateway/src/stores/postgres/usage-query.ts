import { MOST_GROUPS, type UsageQuery, type UsageResult, type UsageSums } from '../store.ts'
import { GROUP_COLUMNS, splitRange, TOKEN_COLUMNS } from '../usage-columns.ts'
import type { PostgresConnection, Row } from './connection.ts'
import { inSchema } from './migrations.ts'

/** Adds up the sums of whole hours, and the entries of hours that the range begins or ends in. */
export function queryUsage(
  connection: PostgresConnection,
  query: UsageQuery,
  { schema, timeoutMs }: { schema: string; timeoutMs: number },
): Promise<UsageResult> {
  const { by } = query
  const groups = by.map((name, i) => `${GROUPS[name] ?? unknownGroup(name)} AS group${i}`)
  const names = groups.map((_, i) => `group${i}`)
  const text = `SELECT ${[...groups, ...SUMS].join()} FROM (${HOURS} UNION ALL ${ENTRIES}) AS parts
    ${names.length === 0 ? '' : `GROUP BY ${names.join()}`}
    ORDER BY ${['sum(nano_dollars) DESC NULLS LAST', 'sum(calls) DESC', ...names].join()} LIMIT ${MOST_GROUPS + 1}`
  // Both statements see the same entries, also while another gateway removes some.
  const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'
  return connection.transaction({ begin, timeoutMs }, async () => {
    const [state] = await connection.query(inSchema('SELECT removed_before FROM portico.ledger_state', schema))
    const { first, end, since, firstEnd, last, until } = splitRange(query, Number(state?.['removed_before'] ?? 0))
    const values = [first, end, since, firstEnd, last, until]
    const rows = await connection.query(inSchema(text, schema), values, timeoutMs)
    const sums = rows.slice(0, MOST_GROUPS).map((row) => sumsOf(row, by.length))
    // Without groups, SQL returns one row even for no calls.
    return { sums: sums.filter(({ calls }) => calls > 0), isCut: rows.length > MOST_GROUPS }
  })
}

function sumsOf(row: Row, groups: number): UsageSums {
  const count = (name: string): number => Number(row[name] ?? 0)
  const amount = (name: string): bigint | null => {
    const value = row[name]
    return typeof value === 'string' ? BigInt(value) : null
  }
  return {
    group: Array.from({ length: groups }, (_, i) => String(row[`group${i}`])),
    calls: count('calls'),
    unpricedCalls: count('unpriced_calls'),
    estimatedCalls: count('estimated_calls'),
    cachedCalls: count('cached_calls'),
    inputTokens: count('input_tokens'),
    outputTokens: count('output_tokens'),
    cacheReadTokens: count('cache_read_tokens'),
    cacheWriteTokens: count('cache_write_tokens'),
    reasoningTokens: count('reasoning_tokens'),
    nanoDollars: amount('nano_dollars'),
    savedNanoDollars: amount('saved_nano_dollars') ?? 0n,
  }
}

function unknownGroup(name: string): never {
  throw new Error(`usage cannot be grouped by ${name}`)
}

const TIME = `to_timestamp(at / 1000) AT TIME ZONE 'UTC'`
/** The expressions of the fields that usage can be grouped by. Texts are in the order of their bytes, as in SQLite. */
const GROUPS: Readonly<Record<string, string>> = {
  day: `to_char(${TIME}, 'YYYY-MM-DD')`,
  hour: `to_char(${TIME}, 'YYYY-MM-DD"T"HH24:00"Z"')`,
  key: 'key COLLATE "C"',
  team: 'team COLLATE "C"',
  route: 'route COLLATE "C"',
  model: 'model COLLATE "C"',
  requestedModel: 'requested_model COLLATE "C"',
  provider: 'provider COLLATE "C"',
  operation: 'operation COLLATE "C"',
  status: 'status',
  basis: 'basis',
  cache: 'cache',
}

const COSTS = ['nano_dollars', 'saved_nano_dollars'] as const
const HOURS = `SELECT ${['hour AS at', ...GROUP_COLUMNS, 'calls', 'unpriced_calls', ...TOKEN_COLUMNS, ...COSTS].join()}
  FROM portico.usage_hours WHERE hour >= $1::bigint AND hour < $2::bigint`
const ENTRIES = `SELECT ${[
  ...[
    'at',
    ...GROUP_COLUMNS,
    '1 AS calls',
    '(nano_dollars IS NULL)::int AS unpriced_calls',
    ...TOKEN_COLUMNS,
    ...COSTS,
  ],
].join()}
  FROM portico.ledger WHERE at >= $3::bigint AND at < $4::bigint OR at >= $5::bigint AND at < $6::bigint`

const SUMS = [
  'sum(calls) AS calls',
  'sum(unpriced_calls) AS unpriced_calls',
  `sum(calls) FILTER (WHERE basis = 'estimated') AS estimated_calls`,
  `sum(calls) FILTER (WHERE cache = 'hit') AS cached_calls`,
  ...[...TOKEN_COLUMNS, ...COSTS].map((name) => `sum(${name}) AS ${name}`),
]
