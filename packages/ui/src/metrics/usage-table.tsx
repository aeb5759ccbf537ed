import type { HistoryRange, UsageView } from '@portico/gateway/admin-api'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { backendsQuery } from '../api/queries.ts'
import { formatCount } from '../format/numbers.ts'
import { formatMoment } from '../format/times.ts'
import { type CostSum, costText, sumCosts } from '../prices/cost.ts'
import { CostNote, CostSource } from '../prices/cost-source.tsx'
import { providerAddress } from '../prices/provider-address.ts'
import { type Prices, usePrices } from '../prices/use-prices.ts'
import { namedFilter } from './figures.ts'
import { RANGE_MILLIS, RANGE_NAMES } from './search.ts'
import { sumOf, USAGE_GROUPS, type UsageGroup, type UsageLine, usageLines, usageSource } from './usage-lines.ts'

/** Tokens and cost by model, API key and route. */
export function UsageTable({ usage, by }: { usage: UsageView; by: UsageGroup | null }) {
  const { rows, omitted, range } = usage
  const lines = usageLines(rows, by)
  const all: UsageLine = { id: '', ...sumOf(rows), rows }
  const numbers = NUMBERS.filter(([field]) => ALWAYS.has(field) || all[field] > 0)
  const prices = usePrices(rows.length > 0)
  const costOf = useCosts(prices, usage)
  return (
    <section className="usage" aria-label="Tokens and cost by model, key and route">
      <header>
        <h2>Tokens and cost</h2>
        <nav aria-label="Group by">
          {[null, ...USAGE_GROUPS].map((each) => (
            <Link
              key={each}
              to="/metrics"
              search={({ by: _by, ...rest }) => (each === null ? rest : { ...rest, by: each })}
              resetScroll={false}
              activeOptions={{ exact: true }}
              aria-current={each === by ? 'true' : undefined}
            >
              {each === null ? 'By model, key and route' : `By ${each}`}
            </Link>
          ))}
        </nav>
      </header>
      <p className="dim">{howComplete(usage)}</p>
      {rows.length === 0 ? (
        <p className="dim">No model was called.</p>
      ) : (
        // A wide table scrolls by itself, and by keys.
        <div className="usage-space" role="region" aria-label="Table of tokens and cost" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {columnsOf(by).map((name) => (
                  <th key={name}>{COLUMN_NAMES[name]}</th>
                ))}
                {numbers.map(([, name]) => (
                  <th key={name} className="number">
                    {name}
                  </th>
                ))}
                <th className="number">Cost</th>
                <th>Token source</th>
                <th>Price source</th>
              </tr>
            </thead>
            <tbody>
              {lines.map((line) => (
                <Line key={line.id} {...{ line, by, range, numbers }} cost={costOf(line)} />
              ))}
            </tbody>
            {lines.length > 1 && <Total {...{ line: all, by, numbers }} cost={costOf(all)} />}
          </table>
        </div>
      )}
      {omitted > 0 && <p className="dim">{formatCount(omitted)} rows with fewer tokens are not shown.</p>}
      {rows.length > 0 && <CostNote />}
      {prices.error !== null && <p className="metrics-stale">▲ Prices could not be loaded: {prices.error.message}</p>}
    </section>
  )
}

const NUMBERS = [
  ['calls', 'Calls'],
  ['input', 'Input'],
  ['output', 'Output'],
  ['cacheRead', 'Cache read'],
  ['cacheWrite', 'Cache written'],
  ['reasoning', 'Reasoning'],
] as const
/** Columns that are there even when all of their values are 0. */
const ALWAYS: ReadonlySet<string> = new Set(['calls', 'input', 'output'])

type Numbers = readonly (typeof NUMBERS)[number][]

const COLUMN_NAMES: Readonly<Record<UsageGroup, string>> = { model: 'Model', key: 'Key', route: 'Route' }

function columnsOf(by: UsageGroup | null): readonly UsageGroup[] {
  return by === null ? USAGE_GROUPS : [by]
}

/** A function that prices a line; its result is null until the prices are loaded. */
function useCosts({ table }: Prices, { now }: UsageView): (line: UsageLine) => CostSum | null {
  const { data } = useQuery(backendsQuery)
  return ({ rows }) => {
    if (table === null) return null
    return sumCosts(rows.map((row) => table.priceRow(row, providerAddress(data, row.backend, row.providerName), now)))
  }
}

interface LineProps {
  line: UsageLine
  by: UsageGroup | null
  numbers: Numbers
  cost: CostSum | null
}

function Line({ line, by, range, numbers, cost }: LineProps & { range: HistoryRange }) {
  return (
    <tr>
      {columnsOf(by).map((name) => (
        <td key={name}>
          <FilterLink name={name} value={line[name] ?? null} range={range} />
          {name === 'model' && line.provider !== line.model && <span className="dim"> {line.provider}</span>}
        </td>
      ))}
      <Figures line={line} numbers={numbers} cost={cost} />
      <td className="usage-source">{cost !== null && <CostSource sum={cost} />}</td>
    </tr>
  )
}

function Total({ line, by, numbers, cost }: LineProps) {
  return (
    <tfoot>
      <tr>
        <th colSpan={columnsOf(by).length}>Total</th>
        <Figures line={line} numbers={numbers} cost={cost} />
        <td className="usage-source">{cost?.unknown.join('; ')}</td>
      </tr>
    </tfoot>
  )
}

function Figures({ line, numbers, cost }: Omit<LineProps, 'by'>) {
  return (
    <>
      {numbers.map(([field, name]) => (
        <td key={name} className="number">
          {formatCount(line[field])}
        </td>
      ))}
      <td className="number">{cost === null ? '…' : costText(cost)}</td>
      <td className="dim">{usageSource(line)}</td>
    </>
  )
}

function howComplete({ range, now, completeSince }: UsageView): string {
  const isWhole = completeSince <= now - RANGE_MILLIS[range]
  if (isWhole) return `Every request of the last ${RANGE_NAMES[range]} is counted.`
  return `Records go back to ${formatMoment(completeSince).slice(0, -4)}; usage before that is not counted.`
}

function FilterLink({ name, value, range }: { name: UsageGroup; value: string | null; range: HistoryRange }) {
  const filter = value === null ? null : namedFilter(name, value, range)
  if (filter === null) return <span className="mono">{value === null || value === '' ? '–' : value}</span>
  return (
    <Link to="/requests" search={{ q: filter }} className="mono">
      {value}
    </Link>
  )
}
