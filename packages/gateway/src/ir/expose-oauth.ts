import { parseBackendUrl } from '../formats/address.ts'
import { discoveryPaths, discoveryPrefixes } from '../formats/well-known.ts'
import { indexPolicies, type PolicyIndex } from './merge.ts'
import { PoliciesByTarget } from './policies-by-target.ts'
import type { AttachedPolicy, Backend, Ir, Route, RouteMatch } from './resources.ts'
import type { BackendPolicies, TrafficPolicies } from '../policies/index.ts'
import { urlBackend } from './backend-targets.ts'

/**
 * Adds the resources that MCP OAuth needs besides its policies: backends for the issuers, and matches for the discovery
 * documents, which the routes of an endpoint would not match otherwise. The deprecated policy of backends becomes a
 * policy of their routes. Returns the routes whose backends need different authentications.
 */
export function exposeOauth(ir: Ir): Route[] {
  const issuers = ir.policies.flatMap(issuersOf)
  if (issuers.length === 0) return []
  addIssuers(ir, issuers)
  const conflicts = authenticateForBackends(ir)
  const policies = indexPolicies(PoliciesByTarget.of(ir.policies), new Set())
  const oauthByRoute = new Map<Route, string>()
  for (const [index, route] of ir.routes.entries()) {
    const oauth = oauthOf(policies.traffic(routeKeys(route)))
    if (oauth === null || route.matches.length === 0) continue
    // A copy, because the next config may have the same route.
    ir.routes[index] = { ...route, matches: [...route.matches] }
    oauthByRoute.set(ir.routes[index], oauth)
  }
  const taken = new Set(ir.routes.flatMap((route) => route.matches.map(({ path }) => matchKey(route, path))))
  const own = [...oauthByRoute.keys()].map((route) => [route, discoveryMatches(route)] as const)
  // Paths below an endpoint come first; the root of a host then goes to the endpoint that can represent the whole host.
  for (const [route, places] of own) addMatches(route, places, taken)
  for (const route of rootRoutes(oauthByRoute)) addMatches(route, exactly(discoveryPaths('')), taken)
  return conflicts
}

function issuersOf({ traffic, backend }: AttachedPolicy): string[] {
  const mayNameOne = traffic?.jwtAuthentication ?? traffic?.mcpAuthentication ?? traffic?.shadow ?? backend?.mcp
  if (mayNameOne === undefined) return []
  const authentications = [traffic, traffic?.shadow].flatMap((policies) => policies ?? [])
  return [
    ...authentications.flatMap(({ jwtAuthentication: jwt, mcpAuthentication }) => [
      jwt?.mcp === undefined ? undefined : jwt.providers[0]?.issuer,
      mcpAuthentication?.issuer,
    ]),
    backend?.mcp?.authentication?.issuer,
  ].filter((issuer) => issuer !== undefined)
}

function addIssuers(ir: Ir, issuers: readonly string[]): void {
  const known = new Set(ir.backends.map(({ key }) => key))
  for (const issuer of issuers) {
    const url = parseBackendUrl(issuer)
    if (url === null) throw new Error(`${issuer} is no URL`)
    const { backend, policies = null } = urlBackend(url)
    if (known.has(backend.key)) continue
    known.add(backend.key)
    ir.backends.push(backend)
    if (policies !== null) attach(ir, { kind: 'backend', key: backend.key }, { backend: policies })
  }
}

type McpAuthentication = NonNullable<TrafficPolicies['mcpAuthentication']>

/** Copies the deprecated `mcp.authentication` of backends to their routes. Returns the routes with conflicts. */
function authenticateForBackends(ir: Ir): Route[] {
  const policies = indexPolicies(PoliciesByTarget.of(ir.policies), new Set())
  const backendsByKey = new Map(ir.backends.map((backend) => [backend.key, backend]))
  const conflicts: Route[] = []
  for (const route of ir.routes) {
    const place = routeKeys(route)
    const asked = route.backends.flatMap(({ backend, key: entry }) => {
      const at = { ...place, route: route.key, backend, entry }
      const parts = sectionsOf(backendsByKey.get(backend)).map((section) => ({ ...at, section }))
      return [at, ...parts].flatMap((part) => policies.mcpAuthentication(part) ?? [])
    })
    const [first] = asked
    if (first === undefined || oauthOf(policies.traffic(place)) !== null) continue
    if (new Set(asked.map((each) => JSON.stringify(each))).size > 1) conflicts.push(route)
    const { jwks, ...rest } = first
    const mcpAuthentication: McpAuthentication = { ...rest, jwks: { remote: jwks } }
    attach(ir, { kind: 'rule', key: route.key }, { traffic: { mcpAuthentication } })
  }
  return conflicts
}

/** The keys of the parts of a backend that have their own policies. */
function sectionsOf(backend: Backend | undefined): string[] {
  const target = backend?.target
  if (target?.kind === 'mcp') return target.targets.map(({ key }) => key)
  return target?.kind === 'ai' ? target.groups.flat().map(({ key }) => key) : []
}

function attach(
  ir: Ir,
  target: Exclude<AttachedPolicy['target'], { kind: 'gateway' }>,
  set: { traffic?: TrafficPolicies; backend?: BackendPolicies },
): void {
  const key = `oauth/${target.kind}/${target.key}`
  ir.policies.push({ key, target, frontend: null, traffic: null, phase: 'PostRouting', backend: null, ...set })
}

/** The OAuth settings of a route as text, for comparison. */
function oauthOf({ jwtAuthentication, mcpAuthentication }: ReturnType<PolicyIndex['traffic']>): string | null {
  const jwt = jwtAuthentication?.configs.at(-1)
  if (jwt?.mcp !== undefined) return JSON.stringify(jwt)
  return mcpAuthentication === undefined ? null : JSON.stringify(mcpAuthentication.configs.at(-1))
}

/**
 * The routes that serve the discovery documents of a host without a path: its only endpoint, or all endpoints when
 * their settings are equal.
 */
function rootRoutes(oauthByRoute: ReadonlyMap<Route, string>): Route[] {
  const byHost = new Map<string, Route[]>()
  for (const route of oauthByRoute.keys()) {
    for (const host of hostsOf(route)) byHost.set(host, [...(byHost.get(host) ?? []), route])
  }
  return [...oauthByRoute].flatMap(([route, oauth]) => {
    const others = hostsOf(route).flatMap((host) => byHost.get(host) ?? [])
    return others.every((other) => oauthByRoute.get(other) === oauth) ? [route] : []
  })
}

function hostsOf({ listener, hostnames }: Route): string[] {
  return (hostnames.length === 0 ? [''] : hostnames).map((hostname) => `${listener} ${hostname.toLowerCase()}`)
}

type PathMatch = RouteMatch['path']

function discoveryMatches(route: Route): PathMatch[] {
  return route.matches.flatMap(({ path: { kind, value } }) => {
    // The paths of a regex are unknown, and discovery documents have no discovery documents themselves.
    if (kind === 'regex' || value.startsWith('/.well-known')) return []
    const resource = withoutSlash(value)
    if (kind === 'exact') return exactly(discoveryPaths(resource))
    return discoveryPrefixes(resource).map((prefix): PathMatch => ({ kind: 'pathPrefix', value: prefix }))
  })
}

function exactly(paths: readonly string[]): PathMatch[] {
  return paths.map((value) => ({ kind: 'exact', value }))
}

/** Adds matches to a route, except for paths that the config assigns to a route explicitly. */
function addMatches(route: Route, places: readonly PathMatch[], taken: Set<string>): void {
  for (const path of places) {
    const isTaken = taken.has(matchKey(route, path)) || taken.has(matchKey(route, { ...path, kind: 'pathPrefix' }))
    if (isTaken) continue
    taken.add(matchKey(route, path))
    route.matches.push({ path, method: null, headers: [], query: [] })
  }
}

function matchKey(route: Route, { kind, value }: PathMatch): string {
  return `${hostsOf(route).toSorted().join()} ${kind} ${withoutSlash(value)}`
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

function routeKeys({ listener, key, name }: Route): { listener: string; key: string; parent: string } {
  return { listener, key, parent: `${listener}/${name}` }
}
