import { compileRegex } from '@portico/regex'
import { commented } from '../core/config-yaml.ts'
import { positionText } from '../core/source.ts'
import { readAccess } from './access.ts'
import { type Directive, Scope } from './directive.ts'
import { type Location, pathMatches, type PathMatch, readLocation } from './locations.ts'
import { readProxy } from './proxy.ts'
import { responseHeaders } from './response-headers.ts'
import { readReturn } from './return.ts'
import type { Upstreams } from './upstreams.ts'

/** The upstream or the status that a request to a location gets. */
type Outcome =
  | { readonly kind: 'proxy'; readonly addresses: readonly string[]; pathFor(this: void, path: string): string }
  | { readonly kind: 'status'; readonly status: number }

/** A location, and its route without a hostname. */
export interface LocationRoute {
  /** Null for requests that no location takes. */
  readonly location: Location | null
  readonly match: PathMatch | null
  readonly name: string
  readonly policies: Readonly<Record<string, unknown>>
  readonly backends: readonly object[]
  readonly outcome: Outcome
  readonly at: Directive
  /** Whether access is checked before, so that tests need credentials. */
  readonly isGuarded: boolean
}

interface Surroundings {
  readonly server: Directive
  readonly http: Scope
  readonly upstreams: Upstreams
}

/** The routes of a server. */
export function readRoutes({ server, http, upstreams }: Surroundings): LocationRoute[] {
  const scope = new Scope(server.block ?? [], http)
  const whole = scope.here('return')
  const names = new Set<string>()
  const build = (found: {
    location: Location | null
    match: PathMatch | null
    inner: Scope
    at: Directive
  }): LocationRoute => routeOf(found, { http, upstreams, server, name: uniqueName(found.location, names) })
  if (whole !== null) {
    for (const each of server.block ?? [])
      if (each.name === 'location') each.notCarried('`return` of the server comes first')
    return [build({ location: null, match: null, inner: scope, at: server })]
  }
  const locations = locationsOf(server)
  const matches = pathMatches(locations)
  const routes = locations.map((location) => {
    const inner = new Scope(location.directive.block ?? [], scope)
    return build({ location, match: matches.get(location) ?? null, inner, at: location.directive })
  })
  const all = [...routes.flatMap((route) => [route, ...slashRedirect(route, locations, names)])]
  if (locations.some(({ kind, path }) => kind !== '=' && !kind.startsWith('~') && path === '/')) return all
  return [...all, build({ location: null, match: null, inner: new Scope([], scope), at: server })]
}

function locationsOf(server: Directive): Location[] {
  const found: Location[] = []
  for (const directive of server.block ?? []) {
    if (directive.name !== 'location') continue
    const location = readLocation(directive)
    const isRegex = typeof location !== 'string' && location.kind.startsWith('~')
    if (typeof location === 'string') directive.notCarried(location)
    else if (found.some(({ kind, path }) => kind === location.kind && path === location.path))
      directive.notCarried('a second location')
    else {
      const match = isRegex ? pathMatches([location]).get(location) : undefined
      const compiled = match !== undefined && 'regex' in match ? compileRegex(match.regex) : null
      if (compiled !== null && !compiled.ok) {
        directive.notCarried(`requests go to the other locations: the pattern is not RE2 (${compiled.message})`, true)
      } else found.push(location)
    }
    for (const each of directive.block ?? []) {
      if (each.name === 'location') each.notCarried('locations within locations are not possible', true)
    }
  }
  return found
}

function uniqueName(location: Location | null, names: Set<string>): string {
  const slug = (location?.path ?? 'rest')
    .replaceAll(/[^\w.-]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
    .slice(0, 50)
  const base = slug === '' ? 'root' : slug
  let name = base
  for (let number = 2; names.has(name); number++) name = `${base}-${number}`
  names.add(name)
  return name
}

function routeOf(
  { location, match, inner, at }: { location: Location | null; match: PathMatch | null; inner: Scope; at: Directive },
  { http, upstreams, server, name }: Surroundings & { readonly name: string },
): LocationRoute {
  const base = { location, match, name, at }
  const done = (policies: Readonly<Record<string, unknown>>, status: number): LocationRoute => ({
    ...{ ...base, policies, backends: [], isGuarded: false, outcome: { kind: 'status', status } },
  })
  const reply = (status: number, body: string): LocationRoute => {
    for (const each of inner.own)
      if (!each.isMarked && location !== null) each.notCarried('requests to the location do not get this far')
    return done({ directResponse: { status, body } }, status)
  }
  if (at.name === 'location' && !at.isMarked) at.carried()
  const response = responseHeaders(inner)
  const uncertain = inner.own.filter((each) => each.name === 'rewrite')
  for (const each of uncertain) each.notCarried('requests to the location get 501 until you replace it')
  const conditions = [...inner.own, ...(server.block ?? [])].filter((each) => each.name === 'if')
  const denying = conditions.filter((each) => noteIf(each))
  const returned = inner.here('return')
  if (uncertain.length > 0) return reply(501, `not imported: rewrite at ${positionText(at.at)}\n`)
  if (returned !== null) {
    const found = readReturn(returned)
    if (typeof found !== 'string') return done({ ...found.policies, ...response }, found.status)
    returned.notCarried(`${found}; requests get 501`)
    return reply(501, `not imported: return at ${positionText(returned.at)}\n`)
  }
  const access = readAccess(inner, http)
  if (denying.length > 0) return reply(403, `not imported: if at ${positionText(at.at)}\n`)
  if (access.isDenied) return reply(403, 'forbidden\n')
  if (access.isClosed) return reply(403, `not imported: access rules at ${positionText(at.at)}\n`)
  const pass = inner.here('proxy_pass')
  if (pass === null) {
    const status = location === null ? 404 : 501
    if (at.name === 'location')
      at.changed('no proxy_pass: files, FastCGI and others are not served, so its requests get 501')
    return reply(status, location === null ? 'not found\n' : `not imported: location at ${positionText(at.at)}\n`)
  }
  const proxy = readProxy(pass, inner, { location, upstreams })
  if (typeof proxy === 'string') {
    pass.notCarried(`${proxy}; requests get 501`)
    return reply(501, `not imported: proxy_pass at ${positionText(pass.at)}\n`)
  }
  return {
    ...base,
    policies: { ...access.policies, ...proxy.policies, ...response },
    backends: [...proxy.backends],
    isGuarded: 'authorization' in access.policies || 'basicAuthentication' in access.policies,
    outcome: { kind: 'proxy', addresses: proxy.backends.map(({ host }) => host), pathFor: proxy.pathFor },
  }
}

/** Marks an `if`; returns whether it denies requests, so that its locations must stay closed. */
function noteIf(directive: Directive): boolean {
  const isDenying = (directive.block ?? []).some(
    ({ name, args }) => name === 'deny' || (name === 'return' && /^4/.test(args[0] ?? '')),
  )
  const effect = isDenying
    ? 'requests to its locations get 403 until you replace it'
    : 'requests are served as if the condition were never true'
  directive.notCarried(effect, true)
  for (const each of directive.block ?? []) each.notCarried('its `if` is not carried')
  return isDenying
}

/** nginx adds a slash to a path that a proxied prefix has with a slash. */
function slashRedirect(route: LocationRoute, all: readonly Location[], names: Set<string>): LocationRoute[] {
  const { location, outcome } = route
  if (location === null || outcome.kind !== 'proxy' || location.path === '/' || !location.path.endsWith('/')) return []
  if (location.kind.startsWith('~')) return []
  const path = location.path.slice(0, -1)
  if (all.some((each) => !each.kind.startsWith('~') && each.path === path)) return []
  // An exact location and a prefix of one path share their redirect.
  if (location.kind === '=' && all.some((each) => each.kind !== '=' && each.path === location.path)) return []
  return [
    {
      ...route,
      match: { exact: path },
      name: uniqueName({ ...location, path: `${path}-slash` }, names),
      policies: { requestRedirect: { path: { full: location.path }, status: 301 } },
      backends: [],
      outcome: { kind: 'status', status: 301 },
    },
  ]
}

/** The route in the config. */
export function printRoute(
  { match, name, policies, backends, at }: LocationRoute,
  hostnames: readonly string[],
): object {
  return commented(
    {
      name,
      ...(hostnames.length > 0 && { hostnames }),
      ...(match !== null && { matches: [{ path: match }] }),
      ...(Object.keys(policies).length > 0 && { policies }),
      ...(backends.length > 0 && { backends }),
    },
    `${positionText(at.at)} ${at.text}`.replaceAll(/[\r\n]/g, ' '),
  )
}
