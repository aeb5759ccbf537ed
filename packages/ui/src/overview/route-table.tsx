import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatCount, formatRate, formatShare, formatTook } from '../format/numbers.ts'
import { withTerm } from '../requests/filter.ts'
import type { Column, Order, RouteRow } from './route-rows.ts'

const COLUMNS: readonly { by: Column; name: string; isNumber: boolean }[] = [
  { by: 'listener', name: 'Listener', isNumber: false },
  { by: 'title', name: 'Route', isNumber: false },
  { by: 'path', name: 'Path', isNumber: false },
  { by: 'backends', name: 'Backends', isNumber: false },
  { by: 'perSecond', name: 'Rate', isNumber: true },
  { by: 'badShare', name: 'Errors', isNumber: true },
  { by: 'p95', name: 'p95', isNumber: true },
]

interface RouteTableProps {
  /** In the order in which they are shown. */
  rows: readonly RouteRow[]
  order: Order
  onOrder: (order: Order) => void
}

/** All routes with their traffic of the last minute, where a map would be too large to read. */
export function RouteTable({ rows, order, onOrder }: RouteTableProps) {
  const [most, setMost] = useState(PAGE)
  const shown = rows.slice(0, most)
  return (
    <div className="route-table" tabIndex={0} role="region" aria-label="Routes">
      <table>
        <thead>
          <tr>
            {COLUMNS.map(({ by, name, isNumber }) => {
              const isSorted = order.by === by
              return (
                <th
                  key={by}
                  className={isNumber ? 'number' : by === 'title' ? undefined : 'wide-only'}
                  aria-sort={isSorted ? (order.isDown ? 'descending' : 'ascending') : 'none'}
                >
                  <button
                    type="button"
                    className="link"
                    onClick={() => onOrder({ by, isDown: isSorted ? !order.isDown : isNumber })}
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
      {rows.length === 0 && <p className="dim">No route matches the search.</p>}
      {rows.length > most && (
        <p>
          <button type="button" className="link" onClick={() => setMost(most + PAGE)}>
            Show {Math.min(PAGE, rows.length - most)} more of {formatCount(rows.length - most)}
          </button>
        </p>
      )}
    </div>
  )
}

/** Rows that are drawn at once: thousands would make the page slow. */
const PAGE = 200

function Line({ row: { key, listener, title, route, path, backends, rate } }: { row: RouteRow }) {
  return (
    <tr>
      <td className="mono dim wide-only">{listener}</td>
      <td className="mono">
        <Link to="/routes" search={{ route: key }}>
          {title}
        </Link>
        <span className="narrow-only dim">{path}</span>
      </td>
      <td className="mono dim wide-only">{path}</td>
      <td className="mono dim wide-only">{backends}</td>
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
