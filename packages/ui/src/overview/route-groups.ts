import type { ViewedRoute } from '@portico/gateway/admin-config'

/** A route of the map, or a group of routes in one box. */
export type RouteItem = { readonly kind: 'route'; readonly route: ViewedRoute } | RouteGroup

interface RouteGroup {
  readonly kind: 'group'
  /** The same for the same routes as long as the config is the same. */
  readonly id: string
  /** The host or path that its routes share: `shop.example.com`, `/api/orders`; the first and the last where they share nothing. */
  readonly name: string
  readonly routes: readonly ViewedRoute[]
}

/** A box opens to at most this many; that many routes stand by themselves. */
export const MOST_ITEMS = 24
/** The size of a range of names; ranges are larger when there would be more than `MOST_RANGES`. */
const RANGE = 20
const MOST_RANGES = 12

/** At most `MOST_ITEMS` boxes for any number of routes: by host, by prefix of the path, or by ranges of names. */
export function groupRoutes(parent: string, routes: readonly ViewedRoute[]): RouteItem[] {
  if (routes.length <= MOST_ITEMS) return routes.map(asItem)
  const parts =
    SHARED.map((shared) => Map.groupBy(routes, shared)).find(({ size }) => size > 1 && size < routes.length) ??
    Map.groupBy(routes, labelOf)
  const sorted = [...parts].toSorted(([one], [other]) => one.localeCompare(other, undefined, { numeric: true }))
  return inRanges(sorted).map(({ name, routes: own }): RouteItem => {
    const [only] = own
    return own.length === 1 && only !== undefined
      ? asItem(only)
      : { kind: 'group', id: `${parent} ▸ ${name}`, name, routes: own }
  })
}

function asItem(route: ViewedRoute): RouteItem {
  return { kind: 'route', route }
}

/** Keys to group routes by. The first key that separates some of the routes is used. */
const SHARED: readonly ((route: ViewedRoute) => string)[] = [
  ({ hostnames }) => (hostnames.length === 0 ? 'any host' : hostnames.join(', ')),
  ...[1, 2, 3, 4].map(
    (depth) => (route: ViewedRoute) =>
      pathOf(route)
        .split('/')
        .slice(0, depth + 1)
        .join('/') || '/',
  ),
]

function pathOf({ matches }: ViewedRoute): string {
  return matches[0]?.path.value ?? '/'
}

/** Unique among the routes of a listener. */
function labelOf({ name, rule, key }: ViewedRoute): string {
  return name === '' ? key : rule === '' ? name : `${name}/${rule}`
}

interface Range {
  readonly name: string
  readonly routes: readonly ViewedRoute[]
}

function inRanges(parts: readonly (readonly [string, readonly ViewedRoute[]])[]): Range[] {
  if (parts.length <= MOST_ITEMS) return parts.map(([name, routes]) => ({ name, routes }))
  const count = Math.min(MOST_RANGES, Math.ceil(parts.length / RANGE))
  const size = Math.ceil(parts.length / count)
  return Array.from({ length: Math.ceil(parts.length / size) }, (_, index) => {
    const own = parts.slice(index * size, (index + 1) * size)
    const [first = ''] = own[0] ?? []
    const [last = ''] = own.at(-1) ?? []
    return { name: first === last ? first : `${first} … ${last}`, routes: own.flatMap(([, routes]) => routes) }
  })
}
