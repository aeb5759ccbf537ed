import { commented } from '../core/config-yaml.ts'
import { positionText } from '../core/source.ts'
import { ANY_MATCH, type HttpMatch } from '../http/model.ts'
import { orderedRoutes } from '../http/order.ts'
import { type Content, readContent, statusContent, type Surroundings } from './content.ts'
import { type Directive, Scope } from './directive.ts'
import { flattened, isReached, locationMatches } from './location-order.ts'
import { isPrefix, isProxied, isRegex, type Location, readLocations } from './locations.ts'
import { rewrittenRoutes, serverRewrites } from './rewritten-routes.ts'

/** A route of a location, without hostnames. The first route that fits a request takes the request. */
export interface LocationRoute extends Content {
  /** The location of the route; null for requests that no location takes, or that a `rewrite` of the server takes. */
  readonly location: Location | null
  readonly match: HttpMatch
  readonly name: string
  readonly at: Directive
}

/** Returns the routes of a server, in the order in which nginx tries them. */
export function readRoutes({ server, ...others }: Omit<Surroundings, 'named'>): LocationRoute[] {
  const scope = new Scope(server.block ?? [], others.http)
  const { top, named } = readLocations(server)
  const around = { ...others, server, named }
  const names = new Set<string>()
  const route = (found: Omit<LocationRoute, 'name'>, slug?: string): LocationRoute => ({
    ...found,
    name: uniqueName(slug ?? found.location?.path ?? 'rest', names),
  })
  const rest = { location: null, match: ANY_MATCH, at: server }
  const first = serverRewrites(around, top)
  if (first.isComplete || scope.here('return') !== null) {
    for (const each of server.block ?? []) {
      if (each.name === 'location') each.notCarried('a `return` or `rewrite` of the server takes all requests')
    }
    const own = first.isComplete ? [] : [{ ...rest, ...contentOfRest(scope, around) }]
    return [...first.routes, ...own].map((each) => route(each, each.at.name === 'rewrite' ? 'rewrite' : 'rest'))
  }
  const matches = locationMatches(top)
  const contents = new Map<Location, Content>()
  const contentOf = (location: Location): Content => {
    const known = contents.get(location) ?? readContent(clientBlock(location, scope), around)
    contents.set(location, known)
    return known
  }
  for (const location of matches.map((each) => each.location)) {
    if (!location.directive.block?.some(({ name }) => name === 'rewrite')) contentOf(location)
  }
  const routes = matches.flatMap(({ location, match }) => {
    const at = location.directive
    const changed = rewrittenRoutes({ location, match, top, scopeOf: (each) => scopeOf(each, scope) }, around)
    return changed ?? [{ location, match, at, ...contentOf(location) }]
  })
  const exacts = routes.filter(({ match }) => match.path?.kind === 'exact')
  const patterns = routes.filter((each) => !exacts.includes(each))
  const hasRoot = top.some((each) => isPrefix(each) && each.path === '/')
  return [
    ...first.routes.map((each) => route(each, 'rewrite')),
    ...exacts.map((each) => route(each)),
    ...flattened(top)
      .flatMap((location) => slashRedirect(location, top))
      .map((each) => route(each, `${each.match.path?.kind === 'exact' ? each.match.path.path : ''}-slash`)),
    ...patterns.map((each) => route(each)),
    ...(hasRoot ? [] : [route({ ...rest, ...contentOfRest(scope, around) })]),
  ]
}

function contentOfRest(scope: Scope, around: Surroundings): Content {
  return readContent({ location: null, scope, at: around.server, path: null, isInside: false, before: null }, around)
}

function clientBlock(location: Location, server: Scope): Parameters<typeof readContent>[0] {
  return {
    ...{ location, scope: scopeOf(location, server), at: location.directive },
    ...{ path: null, isInside: false, before: null },
  }
}

/** Returns the directives of a location; outer locations and the server are the outer levels. */
function scopeOf({ directive, parent }: Location, server: Scope): Scope {
  return new Scope(directive.block ?? [], parent === null ? server : scopeOf(parent, server))
}

function uniqueName(text: string, names: Set<string>): string {
  const slug = text
    .replaceAll(/[^\w.-]+/g, '-')
    .replaceAll(/^[-._]+/g, '')
    .slice(0, 50)
    .replaceAll(/[-._]+$/g, '')
  const base = slug === '' ? 'root' : slug
  let name = base
  for (let number = 2; names.has(name); number++) name = `${base}-${number}`
  names.add(name)
  return name
}

/**
 * Returns a redirect to the path of a proxied location, for requests whose path lacks the trailing slash, as nginx
 * does.
 */
function slashRedirect(location: Location, top: readonly Location[]): Omit<LocationRoute, 'name'>[] {
  const { directive, parent } = location
  if (!isProxied(location) || isRegex(location) || location.path === '/' || !location.path.endsWith('/')) return []
  const path = location.path.slice(0, -1)
  const siblings = parent === null ? top : parent.nested
  if (siblings.some((each) => !isRegex(each) && each.path === path) || !isReached({ kind: '=', path, parent }, top))
    return []
  if (parent !== null && !path.startsWith(parent.path)) return []
  // An exact location and a prefix location with the same path need only one redirect.
  if (
    location.kind === '=' &&
    siblings.some((each) => isPrefix(each) && each.path === location.path && isProxied(each))
  )
    return []
  const match: HttpMatch = { ...ANY_MATCH, path: { kind: 'exact', path } }
  const hidden = statusContent({ directResponse: { status: 404, body: 'not found\n' } }, 404)
  const first = siblings.find((each) => each.kind === '=' && each.path === location.path) ?? location
  const redirect = { requestRedirect: { path: { full: location.path }, status: 301 } }
  return [{ location, match, at: directive, ...(isInternal(first) ? hidden : statusContent(redirect, 301)) }]
}

function isInternal({ directive, parent }: Location): boolean {
  return directive.block?.some(({ name }) => name === 'internal') === true || (parent !== null && isInternal(parent))
}

/** Prints the routes for the config. */
export function printRoutes(
  routes: readonly LocationRoute[],
  hostnames: readonly string[],
): { name: string; printed: (name: string) => object }[] {
  const rules = routes.map((each) => ({
    ...{ name: each.name, at: each.at.at, source: each.at.text, hosts: [] },
    ...{ matches: each.match === ANY_MATCH ? [] : [each.match], policies: each.policies, backends: each.backends },
    outcome: { kind: 'untold' } as const,
  }))
  return orderedRoutes(rules).map(({ rule, matches }) => ({
    name: rule.name,
    printed: (name) =>
      commented(
        {
          name,
          ...(hostnames.length > 0 && { hostnames }),
          ...(matches !== undefined && { matches }),
          ...(Object.keys(rule.policies).length > 0 && { policies: rule.policies }),
          ...(rule.backends.length > 0 && { backends: rule.backends }),
        },
        `${positionText(rule.at)} ${rule.source}`.replaceAll(/[\r\n]/g, ' '),
      ),
  }))
}
