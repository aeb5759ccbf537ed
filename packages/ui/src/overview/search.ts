import { type Order, ROUTE_COLUMNS } from './route-rows.ts'

/** The state of the page, as its address holds it. */
export interface OverviewSearch {
  /** The chosen view; the default is the map for few routes and the table for many. */
  view?: 'map' | 'table'
  /** Words that routes must have to be shown. */
  find?: string
  /** Column of the table; with `-` in front from the largest down. */
  sort?: string
  /** Ids of groups of the map that are open. */
  open?: string[]
}

/** Anyone can write an address: invalid values are dropped. */
export function readOverviewSearch({ view, find, sort, open }: Record<string, unknown>): OverviewSearch {
  const ids = Array.isArray(open) ? open.filter((id) => typeof id === 'string').slice(0, MOST_OPEN) : []
  return {
    ...((view === 'map' || view === 'table') && { view }),
    // The router reads `5` and `true` as JSON; here they are texts.
    ...(find !== undefined && find !== '' && { find: typeof find === 'string' ? find : JSON.stringify(find) }),
    ...(typeof sort === 'string' && readOrder(sort) !== null && { sort }),
    ...(ids.length > 0 && { open: ids }),
  }
}

const MOST_OPEN = 50

export function readOrder(sort: string): Order | null {
  const by = ROUTE_COLUMNS.find((name) => name === sort.replace(/^-/, ''))
  return by === undefined ? null : { by, isDown: sort.startsWith('-') }
}

export function printOrder({ by, isDown }: Order): string {
  return `${isDown ? '-' : ''}${by}`
}
