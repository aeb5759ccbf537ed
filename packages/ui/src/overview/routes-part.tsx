import type { BackendsView, RoutesView } from '@portico/gateway/admin-config'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { formatCount } from '../format/numbers.ts'
import { Loading } from '../parts/states.tsx'
import { mapGraph } from './map-graph.ts'
import type { Rates } from './rates.ts'
import { routeRows, shownRows, TABLE_FROM } from './route-rows.ts'
import { RouteTable } from './route-table.tsx'
import { type OverviewSearch, printOrder, readOrder } from './search.ts'

const page = getRouteApi('/')
const OverviewMap = lazy(() => import('./map.tsx').then(({ OverviewMap: loaded }) => ({ default: loaded })))

interface RoutesPartProps {
  routes: RoutesView
  backends: BackendsView
  rates: Rates
  /** When the state of the backends was read, in milliseconds since 1970. */
  now: number
}

/** The map of a few routes. Many routes have a table, and a map of groups that open. */
export function RoutesPart({ routes, backends, rates, now }: RoutesPartProps) {
  const { view, find = '', sort = '', open = [] } = page.useSearch()
  const navigate = page.useNavigate()
  const change = (next: OverviewSearch): void =>
    void navigate({ search: (search) => ({ ...search, ...next }), replace: true })
  const rows = routeRows(routes, rates)
  const isMany = rows.length >= TABLE_FROM
  const shown = view ?? (isMany ? 'table' : 'map')
  const order = readOrder(sort) ?? { by: 'perSecond', isDown: true }
  const found = shownRows(rows, find, order)
  const toggle = (id: string): void =>
    change({ open: open.includes(id) ? open.filter((each) => each !== id) : [...open, id] })
  return (
    <div className="routes-part">
      {(isMany || view !== undefined) && (
        <div className="routes-bar">
          <label>
            <span className="visually-hidden">Search routes</span>
            <input
              type="search"
              placeholder="Search routes, paths, backends"
              value={find}
              onChange={(event) => change({ find: event.currentTarget.value })}
            />
          </label>
          <span className="dim">
            {found.length === rows.length
              ? `${formatCount(rows.length)} routes`
              : `${formatCount(found.length)} of ${formatCount(rows.length)} routes`}
          </span>
          <div className="quick" role="group" aria-label="View">
            {(['table', 'map'] as const).map((each) => (
              <button key={each} type="button" aria-pressed={each === shown} onClick={() => change({ view: each })}>
                {each === 'table' ? 'Table' : 'Map'}
              </button>
            ))}
          </div>
        </div>
      )}
      {shown === 'table' ? (
        <RouteTable rows={found} order={order} onOrder={(next) => change({ sort: printOrder(next) })} />
      ) : (
        <div className="map-space">
          <Suspense fallback={<Loading what="the map" />}>
            <OverviewMap
              graph={mapGraph(routes, backends, rates, { isGrouped: isMany, open: new Set(open), search: find })}
              now={now}
              onToggle={toggle}
            />
          </Suspense>
        </div>
      )}
    </div>
  )
}
