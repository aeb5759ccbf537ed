import type { StatedBehavior, StatedTest } from '../core/test-file.ts'
import { ANY_MATCH, type HttpMatch } from '../http/model.ts'
import { fitsPath, fitsRegex, literalStart } from '../http/paths.ts'
import { chosenLocation } from './choose-location.ts'
import { hostGroups, type PortServers } from './listeners.ts'
import type { Location } from './locations.ts'
import type { LocationRoute } from './routes.ts'

/** States, for each location, the upstream and the path that a request gets. */
export function behaviorOf(ports: readonly PortServers[]): StatedBehavior {
  const tests = ports
    .filter(({ isTls }) => !isTls)
    .flatMap(({ port, servers }) =>
      hostGroups(servers).flatMap(({ routes, hostnames }) => {
        const [host = UNKNOWN_HOST] = hostnames
        const where = { host: host.replace('*', 'any'), port }
        const stated = new Set<string>()
        return routes.flatMap((route, index) => {
          const path = route.isGuarded ? null : examplePath(index, routes)
          if (path === null || stated.has(path)) return []
          stated.add(path)
          return [testOf(route, path, where)]
        })
      }),
    )
  return { env: {}, upstreams: { '*': { body: 'ok' } }, tests }
}

const UNKNOWN_HOST = 'any-other-host.test'

function testOf(
  { match, outcome }: LocationRoute,
  path: string,
  where: { readonly host: string; readonly port: number },
): StatedTest {
  const name = `${where.host}:${where.port}${path}`
  const send = { path, ...where }
  if (outcome.kind === 'status') return { name, send, expect: { status: outcome.status, upstream: null } }
  const [first, ...others] = outcome.addresses
  const upstream = { address: others.length === 0 ? first : outcome.addresses, path: outcome.pathFor(path) }
  return { name: match === ANY_MATCH ? `${name} (rest)` : name, send, expect: { status: 200, upstream } }
}

/** Returns an example path for which the route at `index` is the first match; null when the importer finds none. */
function examplePath(index: number, routes: readonly LocationRoute[]): string | null {
  const { location, match, at } = routes[index] ?? { location: null, match: ANY_MATCH, at: null }
  const top = routes.flatMap((each) => each.location ?? []).map(outermost)
  const isOfLocation = (path: string): boolean =>
    match.path?.kind === 'exact' || at?.name === 'rewrite' || chosenLocation(path, top) === location
  return (
    candidatesOf(match).find(
      (path) =>
        isOfLocation(path) &&
        routes.slice(0, index).every((each) => fits(each.match, path) === false) &&
        fits(match, path),
    ) ?? null
  )
}

function outermost(location: Location): Location {
  return location.parent === null ? location : outermost(location.parent)
}

function candidatesOf({ path }: HttpMatch): string[] {
  if (path === null) return ['/no-such-location']
  if (path.kind === 'exact') return [path.path]
  const start = path.kind === 'pattern' ? literalStart(path.regex) : path.path
  return start.startsWith('/') ? [`${start}example`, start, `${start}x/y.z`] : []
}

/** Whether a path without a query fits a match; null when the importer cannot tell. */
function fits({ path, headers }: HttpMatch, text: string): boolean | null {
  const isFit = fitsPath(path, text)
  if (isFit !== true) return isFit
  return headers.every(({ value }) => 'regex' in value && fitsRegex(value.regex, text) === true)
}
