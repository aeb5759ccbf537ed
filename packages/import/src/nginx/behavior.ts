import type { StatedBehavior, StatedTest } from '../core/test-file.ts'
import { hostGroups, type PortServers } from './listeners.ts'
import { chosenLocation, type Location } from './locations.ts'
import type { LocationRoute } from './routes.ts'

/** States, for each location, the upstream and the path that a request gets. */
export function behaviorOf(ports: readonly PortServers[]): StatedBehavior {
  const tests = ports
    .filter(({ isTls }) => !isTls)
    .flatMap(({ port, servers }) =>
      hostGroups(servers).flatMap(({ routes, hostnames }) => {
        const [host = UNKNOWN_HOST] = hostnames
        return routes.flatMap((route) => testOf(route, routes, { host: host.replace('*', 'any'), port }) ?? [])
      }),
    )
  return { env: {}, upstreams: { '*': { body: 'ok' } }, tests }
}

const UNKNOWN_HOST = 'any-other-host.test'

function testOf(
  route: LocationRoute,
  all: readonly LocationRoute[],
  where: { host: string; port: number },
): StatedTest | null {
  const locations = all
    .flatMap(({ location }) => location ?? [])
    .filter((each, index, list) => list.indexOf(each) === index)
  const path = examplePath(route, locations)
  if (path === null || route.isGuarded) return null
  const { outcome, match } = route
  const name = `${where.host}:${where.port}${path}`
  const send = { path, ...where }
  if (outcome.kind === 'status') return { name, send, expect: { status: outcome.status, upstream: null } }
  const [first, ...others] = outcome.addresses
  const upstream = { address: others.length === 0 ? first : outcome.addresses, path: outcome.pathFor(path) }
  return { name: match === null ? `${name} (rest)` : name, send, expect: { status: 200, upstream } }
}

/** A path that reaches the route; null when none is known. */
function examplePath({ location, match }: LocationRoute, locations: readonly Location[]): string | null {
  if (match !== null && 'exact' in match) return match.exact
  if (location === null) {
    return chosenLocation('/no-such-location', locations) === null ? '/no-such-location' : null
  }
  const candidates = location.kind.startsWith('~')
    ? []
    : [`${location.path}example`, location.path, `${location.path}x/y.z`]
  return candidates.find((path) => chosenLocation(path, locations) === location) ?? null
}
