import type { Route, RouteMatch } from '../../ir/resources.ts'
import { canonicalHostname } from '../../pipeline/route/hostname.ts'
import type { RouteView } from '../subject.ts'

interface DuplicateMatches {
  readonly route: Route
  /** The matches that earlier matches take, with the name of the route that has them. */
  readonly taken: readonly { readonly index: number; readonly by: string }[]
  /** The number of matches of the route. */
  readonly total: number
}

/** Routes with matches that cannot be met, because an equal match comes first for every hostname of the route. */
export function duplicateMatches(views: readonly RouteView[]): DuplicateMatches[] {
  const owners = new Map<string, string>()
  return views.flatMap(({ route }) => {
    if (route.delegates === true || route.within !== undefined) return []
    const hosts = route.hostnames.length === 0 ? [''] : route.hostnames.map((name) => canonicalHostname(name))
    const own = route.matches.map((match, index) => ({ match, index })).filter(({ match }) => !isDiscovery(match))
    const taken = own.flatMap(({ match, index }) => {
      const keys = hosts.map((host) => JSON.stringify([route.listener, host, keyOf(match)]))
      const by = keys.map((key) => owners.get(key))
      for (const key of keys) if (!owners.has(key)) owners.set(key, route.name)
      const [first] = by
      return first !== undefined && !by.includes(undefined) ? [{ index, by: first }] : []
    })
    return taken.length === 0 ? [] : [{ route, taken, total: own.length }]
  })
}

/** The gateway adds matches for discovery documents itself. */
function isDiscovery({ path }: RouteMatch): boolean {
  return path.value.startsWith('/.well-known/')
}

function keyOf({ path: { kind, value }, method, headers, query }: RouteMatch): unknown {
  const sorted = (list: RouteMatch['headers']): string[] => list.map((each) => JSON.stringify(each)).toSorted()
  const path = kind === 'pathPrefix' ? value.replace(/\/+$/, '') : value
  return [kind, path, method, sorted(headers), sorted(query)]
}
