import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatRate, formatShare, formatTook } from '../format/numbers.ts'
import { withTerm } from '../requests/filter.ts'
import { type Column, type Order, type RouteRow, shownRows } from './route-rows.ts'

const COLUMNS: readonly { by: Column; name: string; isNumber: boolean }[] = [
  { by: 'listener', name: 'Listener', isNumber: false },
  { by: 'title', name: 'Route', isNumber: false },
  { by: 'path', name: 'Path', isNumber: false },
  { by: 'backends', name: 'Backends', isNumber: false },
  { by: 'perSecond', name: 'Rate', isNumber: true },
  { by: 'badShare', name: 'Errors', isNumber: true },
  { by: 'p95', name: 'p95', isNumber: true },
]

/** All routes with their traffic of the last minute, where a map would be too large to read. */
export function RouteTable({ rows }: { rows: readonly RouteRow[] }) {
  const [search, setSearch] = useState('')
  const [order, setOrder] = useState<Order>({ by: 'perSecond', isDown: true })
  const shown = shownRows(rows, search, order)
  return (
    <div className="route-table">
      <label>
        <span className="visually-hidden">Search routes</span>
        <input
          type="search"
          placeholder="Search routes, paths, backends"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />{' '}
        <span className="dim">
          {shown.length === rows.length ? `${rows.length} routes` : `${shown.length} of ${rows.length} routes`}
        </span>
      </label>
      <div className="route-table-space" tabIndex={0} role="region" aria-label="Routes">
        <table>
          <thead>
            <tr>
              {COLUMNS.map(({ by, name, isNumber }) => {
                const isSorted = order.by === by
                return (
                  <th
                    key={by}
                    className={isNumber ? 'number' : undefined}
                    aria-sort={isSorted ? (order.isDown ? 'descending' : 'ascending') : 'none'}
                  >
                    <button
                      type="button"
                      className="link"
                      onClick={() => setOrder({ by, isDown: isSorted ? !order.isDown : isNumber })}
                    >
                      {name}
                      {isSorted ? (order.isDown ? ' ↓' : ' ↑') : ''}
                    </button>
                  </th>
                )
              })}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <Line key={row.key} row={row} />
            ))}
          </tbody>
        </table>
        {shown.length === 0 && <p className="dim">No route matches the search.</p>}
      </div>
    </div>
  )
}

function Line({ row: { key, listener, title, route, path, backends, rate } }: { row: RouteRow }) {
  return (
    <tr>
      <td className="mono dim">{listener}</td>
      <td className="mono">
        <Link to="/routes" search={{ route: key }}>
          {title}
        </Link>
      </td>
      <td className="mono dim">{path}</td>
      <td className="mono dim">{backends}</td>
      <td className="number">
        {rate === null ? (
          <span className="dim">–</span>
        ) : (
          <Link to="/requests" search={{ q: withTerm('', 'route', route) }}>
            {formatRate(rate.perSecond)}
          </Link>
        )}
      </td>
      <td className={rate !== null && rate.badShare > 0 ? 'number outcome-denied' : 'number dim'}>
        {rate === null ? '–' : rate.badShare === 0 ? '0 %' : `▲ ${formatShare(rate.badShare)}`}
      </td>
      <td className="number">{rate === null ? <span className="dim">–</span> : formatTook(rate.p95)}</td>
    </tr>
  )
}
