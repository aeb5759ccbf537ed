import type { ListedRequest } from '@portico/gateway/admin-api'
import type { ReactNode } from 'react'
import { formatTook } from '../format/numbers.ts'
import { formatClock, formatMoment } from '../format/times.ts'
import { Outcome } from '../parts/outcome.tsx'
import { decisionText } from '../explanation/decision-text.ts'

/** A column of the table of requests. Header, cells and grid are made from it. */
export interface RequestColumn {
  /** Unique; the class of its cells is `cell-<name>`. */
  readonly name: string
  readonly header: string
  /** A track size of a CSS grid. */
  readonly width: string
  readonly align: 'start' | 'end'
  /** Traffic and config are monospace, numbers have digits of one width. */
  readonly font: 'text' | 'mono' | 'number'
  /** The area of the column in a narrow window, by name of `grid-template` in requests.css; null hides it there. */
  readonly narrowArea: 'outcome' | 'path' | 'took' | 'time' | 'decided' | null
  readonly cell: (request: ListedRequest) => ReactNode
  /** The whole value, for a cell that may be cut; null where the cell is never cut. */
  readonly tooltip: ((request: ListedRequest) => string) | null
}

/** All columns, from left to right. */
export const REQUEST_COLUMNS: readonly RequestColumn[] = [
  {
    ...{ name: 'time', header: 'Time', width: '66px', align: 'start', font: 'number', narrowArea: 'time' },
    cell: ({ at }) => formatClock(at),
    tooltip: ({ at }) => formatMoment(at),
  },
  {
    ...{ name: 'outcome', header: 'Outcome', width: '62px', align: 'start', font: 'text', narrowArea: 'outcome' },
    cell: ({ status, outcome }) => <Outcome status={status} outcome={outcome} />,
    tooltip: null,
  },
  {
    ...{ name: 'method', header: 'Method', width: '64px', align: 'start', font: 'mono', narrowArea: null },
    cell: ({ method, protocol }) => method ?? protocol,
    tooltip: ({ method, protocol }) => method ?? protocol,
  },
  {
    ...{ name: 'path', header: 'Host and path', width: 'minmax(150px, 1.7fr)', align: 'start', font: 'mono' },
    narrowArea: 'path',
    // A click on the button is one on the row, which opens the request.
    cell: ({ host, path }) => (
      <button type="button" tabIndex={-1}>
        <span className="dim">{host ?? ''}</span>
        {path ?? ''}
      </button>
    ),
    tooltip: ({ host, path }) => `${host ?? ''}${path ?? ''}`,
  },
  {
    ...{ name: 'route', header: 'Route', width: 'minmax(60px, 0.6fr)', align: 'start', font: 'mono', narrowArea: null },
    cell: ({ route }) => route ?? '–',
    tooltip: ({ route }) => route ?? 'No route',
  },
  {
    ...{ name: 'backend', header: 'Backend', width: 'minmax(70px, 0.8fr)', align: 'start', font: 'mono' },
    narrowArea: null,
    cell: ({ backend }) => backend ?? '–',
    tooltip: ({ backend }) => backend ?? 'No backend',
  },
  {
    ...{ name: 'took', header: 'Took', width: '74px', align: 'end', font: 'number', narrowArea: 'took' },
    cell: ({ took }) => formatTook(took),
    tooltip: null,
  },
  {
    ...{ name: 'decided', header: 'Decided by', width: 'minmax(140px, 3.4fr)', align: 'start', font: 'text' },
    narrowArea: 'decided',
    cell: decisionText,
    tooltip: decisionText,
  },
]

/** `grid-template-columns` of a row. */
export const REQUEST_GRID = REQUEST_COLUMNS.map(({ width }) => width).join(' ')
