import type { HistoryRange, UsageView } from '@portico/gateway/admin-api'
import { Link } from '@tanstack/react-router'
import { formatCount } from '../format/numbers.ts'
import { formatMoment } from '../format/times.ts'
import { namedFilter } from './figures.ts'
import { RANGE_MILLIS, RANGE_NAMES } from './search.ts'

/** Who used how many tokens of which model where. */
export function UsageTable({ usage }: { usage: UsageView }) {
  const { rows, omitted, range } = usage
  return (
    <section className="usage" aria-label="Tokens by model, key and route">
      <h2>Tokens by model, key and route</h2>
      <p className="dim">{howComplete(usage)}</p>
      {rows.length === 0 ? (
        <p className="dim">No model was called.</p>
      ) : (
        // Wide tables move by themselves, by keys too.
        <div className="usage-space" role="region" aria-label="Table of tokens" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th>model</th>
                <th>key</th>
                <th>route</th>
                {['calls', 'input', 'output', 'cache read', 'cache written', 'estimated calls'].map((name) => (
                  <th key={name} className="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={JSON.stringify([row.provider, row.model, row.key, row.route])}>
                  <td>
                    <Named name="model" value={row.model} range={range} />{' '}
                    <span className="dim">{row.provider === row.model ? '' : row.provider}</span>
                  </td>
                  <td>
                    <Named name="key" value={row.key} range={range} />
                  </td>
                  <td>
                    <Named name="route" value={row.route} range={range} />
                  </td>
                  {[row.calls, row.input, row.output, row.cacheRead, row.cacheWrite, row.estimatedCalls].map(
                    (count, column) => (
                      <td key={column} className="number">
                        {formatCount(count)}
                      </td>
                    ),
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {omitted > 0 && <p className="dim">{formatCount(omitted)} rows with fewer tokens are left out.</p>}
      {rows.some(({ estimatedCalls }) => estimatedCalls > 0) && (
        <p className="dim">
          Estimated calls are those whose provider did not report all of its usage: their tokens are estimates, or
          missing.
        </p>
      )}
    </section>
  )
}

function howComplete({ range, now, completeSince }: UsageView): string {
  const isWhole = completeSince <= now - RANGE_MILLIS[range]
  if (isWhole) return `Every request of the last ${RANGE_NAMES[range]} is counted.`
  return `From what is recorded: complete since ${formatMoment(completeSince).slice(0, -4)}.`
}

function Named({ name, value, range }: { name: 'model' | 'key' | 'route'; value: string | null; range: HistoryRange }) {
  const filter = value === null ? null : namedFilter(name, value, range)
  if (filter === null) return <span className="mono">{value === null || value === '' ? '–' : value}</span>
  return (
    <Link to="/requests" search={{ q: filter }} className="mono">
      {value}
    </Link>
  )
}
