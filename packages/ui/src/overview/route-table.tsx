import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { formatCount, formatRate, formatShare, formatTook } from '../format/numbers.ts'
import { withTerm } from '../requests/filter.ts'
import { type Column, type Order, ROUTE_COLUMNS, type RouteRow } from './route-rows.ts'

const TEXT_COLUMN = { isNumber: false, isWideOnly: true } as const
const NUMBER_COLUMN = { isNumber: true, isWideOnly: false } as const
const NO_TRAFFIC = <span className="dim">–</span>

interface RouteColumn {
  readonly header: string
  readonly isNumber: boolean
  /** Whether the column is hidden in a narrow window. */
  readonly isWideOnly: boolean
  readonly cell: (row: RouteRow) => ReactNode
}

/** One entry for each of `ROUTE_COLUMNS`: headers and cells are made from it. */
const COLUMNS: Readonly<Record<Column, RouteColumn>> = {
  listener: { header: 'Listener', ...TEXT_COLUMN, cell: ({ listener }) => <Dim text={listener} /> },
  title: {
    ...{ header: 'Route', isNumber: false, isWideOnly: false },
    cell: ({ key, title, path }) => (
      <span className="mono">
        <Link to="/routes" search={{ route: key }}>
          {title}
        </Link>
        <span className="narrow-only dim">{path}</span>
      </span>
    ),
  },
  path: { header: 'Path', ...TEXT_COLUMN, cell: ({ path }) => <Dim text={path} /> },
  backends: { header: 'Backends', ...TEXT_COLUMN, cell: ({ backends }) => <Dim text={backends} /> },
  perSecond: {
    header: 'Rate',
    ...NUMBER_COLUMN,
    cell: ({ rate, route }) =>
      rate === null ? (
        NO_TRAFFIC
      ) : (
        <Link to="/requests" search={{ q: withTerm('', 'route', route) }}>
          {formatRate(rate.perSecond)}
        </Link>
      ),
  },
  badShare: {
    header: 'Errors',
    ...NUMBER_COLUMN,
    cell: ({ rate }) => {
      if (rate === null) return NO_TRAFFIC
      if (rate.badShare === 0) return <span className="dim">0 %</span>
      return <span className="outcome-denied">▲ {formatShare(rate.badShare)}</span>
    },
  },
  p95: { header: 'p95', ...NUMBER_COLUMN, cell: ({ rate }) => (rate === null ? NO_TRAFFIC : formatTook(rate.p95)) },
}

interface RouteTableProps {
  /** In the order of display. */
  rows: readonly RouteRow[]
  order: Order
  onOrder: (order: Order) => void
}

/** All routes with their traffic of the last minute, for configs whose map would be too large to read. */
export function RouteTable({ rows, order, onOrder }: RouteTableProps) {
  const [most, setMost] = useState(PAGE)
  const shown = rows.slice(0, most)
  return (
    <div className="route-table" tabIndex={0} role="region" aria-label="Routes">
      <table>
        <thead>
          <tr>
            {ROUTE_COLUMNS.map((by) => {
              const { header, isNumber } = COLUMNS[by]
              const isSorted = order.by === by
              return (
                <th
                  key={by}
                  className={classOf(COLUMNS[by])}
                  aria-sort={isSorted ? (order.isDown ? 'descending' : 'ascending') : 'none'}
                >
                  <button
                    type="button"
                    className="link"
                    onClick={() => onOrder({ by, isDown: isSorted ? !order.isDown : isNumber })}
                  >
                    {header}
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

function Line({ row }: { row: RouteRow }) {
  return (
    <tr>
      {ROUTE_COLUMNS.map((by) => (
        <td key={by} className={classOf(COLUMNS[by])}>
          {COLUMNS[by].cell(row)}
        </td>
      ))}
    </tr>
  )
}

function classOf({ isNumber, isWideOnly }: RouteColumn): string | undefined {
  return isNumber ? 'number' : isWideOnly ? 'wide-only' : undefined
}

function Dim({ text }: { text: string }) {
  return <span className="mono dim">{text}</span>
}
