import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { MOST_GROUPS, type UsageQuery, type UsageResult, type UsageSums } from '../store.ts'
import { GROUP_COLUMNS, splitRange, TOKEN_COLUMNS } from '../usage-columns.ts'
import { COST_COLUMNS } from './cost-columns.ts'

/** Adds up the sums of whole hours, and the entries of hours that the range begins or ends in. */
export function queryUsage(database: DatabaseSync, query: UsageQuery, removedBefore: number): UsageResult {
  const { by } = query
  const groups = by.map((name, i) => `${GROUPS[name] ?? unknownGroup(name)} AS group${i}`)
  const names = groups.map((_, i) => `group${i}`)
  const order = ['dollars * 1000000000 + nanos DESC NULLS LAST', 'calls DESC', ...names]
  const statement = database.prepare(
    `SELECT ${[...groups, ...SUMS].join()} FROM (${HOURS} UNION ALL ${ENTRIES})
     ${names.length === 0 ? '' : `GROUP BY ${names.join()}`} ORDER BY ${order.join()} LIMIT ${MOST_GROUPS + 1}`,
  )
  statement.setReadBigInts(true)
  const rows = statement.all({ ...splitRange(query, removedBefore) })
  const sums = rows.slice(0, MOST_GROUPS).map((row) => sumsOf(row, by.length))
  // Without groups, SQL returns one row even for no calls.
  return { sums: sums.filter(({ calls }) => calls > 0), isCut: rows.length > MOST_GROUPS }
}

function sumsOf(row: Record<string, SQLOutputValue>, groups: number): UsageSums {
  const count = (name: string): number => Number(row[name] ?? 0)
  const { dollars, nanos, saved_dollars: savedDollars, saved_nanos: savedNanos } = row
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
    nanoDollars: nanoDollarsOf(dollars, nanos),
    savedNanoDollars: nanoDollarsOf(savedDollars, savedNanos) ?? 0n,
  }
}

function nanoDollarsOf(dollars: SQLOutputValue | undefined, nanos: SQLOutputValue | undefined): bigint | null {
  return typeof dollars === 'bigint' && typeof nanos === 'bigint' ? dollars * 1_000_000_000n + nanos : null
}

function unknownGroup(name: string): never {
  throw new Error(`usage cannot be grouped by ${name}`)
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
  cache: 'cache',
}

const HOURS = `SELECT ${['hour AS at', ...GROUP_COLUMNS, 'calls', 'unpriced_calls', ...TOKEN_COLUMNS, ...COST_COLUMNS].join()}
  FROM usage_hours WHERE hour >= :first AND hour < :end`
const ENTRIES = `SELECT ${[
  ...['at', ...GROUP_COLUMNS, '1 AS calls', 'nano_dollars IS NULL AS unpriced_calls', ...TOKEN_COLUMNS],
  ...['nano_dollars / 1000000000 AS dollars', 'nano_dollars % 1000000000 AS nanos'],
  ...['saved_nano_dollars / 1000000000 AS saved_dollars', 'saved_nano_dollars % 1000000000 AS saved_nanos'],
].join()}
  FROM ledger WHERE at >= :since AND at < :firstEnd OR at >= :last AND at < :until`

const SUMS = [
  'sum(calls) AS calls',
  'sum(unpriced_calls) AS unpriced_calls',
  `sum(CASE basis WHEN 'estimated' THEN calls ELSE 0 END) AS estimated_calls`,
  `sum(CASE cache WHEN 'hit' THEN calls ELSE 0 END) AS cached_calls`,
  ...[...TOKEN_COLUMNS, ...COST_COLUMNS].map((name) => `sum(${name}) AS ${name}`),
]
