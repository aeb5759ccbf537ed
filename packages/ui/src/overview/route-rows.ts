import type { RoutesView, ViewedRoute } from '@portico/gateway/admin-config'
import type { Rate, Rates } from './rates.ts'

/** The number of routes from which on the table is the default view. */
export const TABLE_FROM = 30

export interface RouteRow {
  readonly key: string
  readonly listener: string
  /** `name`, or `name/rule`. */
  readonly title: string
  /** The name of the route in records. */
  readonly route: string
  readonly path: string
  readonly backends: string
  /** Null when no request took it lately. */
  readonly rate: Rate | null
}

/** The columns of the table, from left to right; also their names in the address. */
export const ROUTE_COLUMNS = ['listener', 'title', 'path', 'backends', 'perSecond', 'badShare', 'p95'] as const
export type Column = (typeof ROUTE_COLUMNS)[number]

export interface Order {
  readonly by: Column
  readonly isDown: boolean
}

export function routeRows({ binds }: RoutesView, rates: Rates): RouteRow[] {
  return binds.flatMap(({ listeners }) =>
    listeners.flatMap((listener) =>
      listener.routes.map((route) => ({
        key: route.key,
        listener: listener.name,
        title: titleOf(route),
        route: route.name,
        path: pathsOf(route).join(', '),
        backends: route.backends.map(({ name, backend }) => (name === '' ? backend : name)).join(', '),
        rate: rates.of({ listener: listener.name, route: route.name }),
      })),
    ),
  )
}

export function titleOf({ name, rule }: ViewedRoute): string {
  return rule === '' ? name : `${name}/${rule}`
}

/** One for each match; prefixes end in `…`. */
export function pathsOf({ matches }: ViewedRoute): string[] {
  return matches.map(({ path }) => `${path.value}${path.kind === 'pathPrefix' ? '…' : ''}`)
}

/** Whether a text has every word of a search. */
export function hasWords(text: string, search: string): boolean {
  const found = text.toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => found.includes(word))
}

/** Rows that have every word of the search, in this order; rows without requests come last in orders of numbers. */
export function shownRows(rows: readonly RouteRow[], search: string, { by, isDown }: Order): RouteRow[] {
  const found = rows.filter(({ listener, title, path, backends }) =>
    hasWords(`${listener} ${title} ${path} ${backends}`, search),
  )
  return found.toSorted((one, other) => {
    if (by !== 'perSecond' && by !== 'badShare' && by !== 'p95') {
      const order = one[by].localeCompare(other[by], undefined, { numeric: true })
      return isDown ? -order : order
    }
    if (one.rate === null || other.rate === null) return Number(one.rate === null) - Number(other.rate === null)
    const order = one.rate[by] - other.rate[by]
    return isDown ? -order : order
  })
}
