import { PoliciesByTarget } from '../ir/policies-by-target.ts'
import type { Ir, Listener, Route } from '../ir/resources.ts'
import { byPrecedence, candidatesOf } from '../pipeline/route/candidate.ts'
import { createHostnameTable, normalizeHost } from '../pipeline/route/hostname.ts'
import { nearestRejections, type Rejection } from '../pipeline/route/lacks.ts'
import { createDelegatingTable } from '../pipeline/route/delegating-table.ts'
import type { RoutableRequest } from '../pipeline/route/request.ts'
import { targetPath, targetQuery } from '../formats/query-parameters.ts'
import type { MatchQuestion, PortMatch, RouteMatchView } from '../findings/route-match.ts'

/** The maximum number of nearest routes. */
const MOST = 5

interface LiveRoutes {
  ir: Ir
  generation: number
  /** The actual ports by bind key. */
  ports: Readonly<Record<string, number>>
}

/**
 * Finds the route that a request would take, with the router of real requests. Returns a text when the question is
 * invalid.
 */
export function matchRoute(
  { url, method = 'GET', headers = {} }: MatchQuestion,
  live: LiveRoutes,
): RouteMatchView | string {
  const target = readTarget(url)
  if (target === null) return 'url: expected a path that begins with /, or http://host/path'
  const { authority, scheme, port, pathAndQuery } = target
  const lines = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), typeof value === 'string' ? [value] : value]),
  )
  const request: RoutableRequest = {
    method,
    host: normalizeHost(authority),
    authority,
    scheme,
    path: targetPath(pathAndQuery),
    query: targetQuery(pathAndQuery),
    header: (name, occurrence) => lines.get(name)?.[occurrence],
  }
  const portOf = (key: string, written: number): number => live.ports[key] ?? written
  const named = live.ir.binds.filter((bind) => portOf(bind.key, bind.port) === port)
  // Behind a load balancer the port of the URL may not be a port of the gateway.
  const binds = named.length > 0 ? named : live.ir.binds
  return {
    generation: live.generation,
    method,
    host: authority,
    path: pathAndQuery,
    ports: binds.map((bind) => {
      const listeners = live.ir.listeners.filter((listener) => listener.bind === bind.key)
      return { bind: bind.key, port: portOf(bind.key, bind.port), ...matchAt(request, listeners, live.ir) }
    }),
  }
}

function matchAt(request: RoutableRequest, listeners: readonly Listener[], ir: Ir): Omit<PortMatch, 'bind' | 'port'> {
  const byHost = createHostnameTable(listeners.map((listener) => [listener.hostname, listener] as const))
  const listener = byHost.best(request.host)
  const none = { listener: null, route: null, compared: [], nearest: [], remarks: [] }
  if (listener === null) {
    const hosts = listeners.map(({ hostname }) => hostname).slice(0, MOST)
    return { ...none, remarks: [`no listener on this port has this host; their hostnames are ${hosts.join(', ')}`] }
  }
  const at = { key: listener.key, name: listener.name }
  if (listener.protocol !== 'HTTP' && listener.protocol !== 'HTTPS') {
    return { ...none, listener: at, remarks: [`${listener.protocol} listeners do not read requests`] }
  }
  const routes = ir.routes.filter((route) => route.listener === listener.key)
  const table = createDelegatingTable(routes.map((route) => ({ route, value: route })))
  const { found, evaluated } = table.explain(request)
  const others = routes.filter(({ key }) => key !== found?.routeKey)
  const nameOf = (key: string): string =>
    titleOf(
      routes.find((route) => route.key === key),
      routes,
    ) ?? key
  return {
    listener: at,
    route:
      found === null
        ? null
        : { key: found.routeKey, name: found.value.name, rule: found.value.rule, match: found.matchIndex },
    compared: evaluated.map(nameOf),
    nearest: nearestOf(others, request).map(({ route, match, lacks }) => ({
      route,
      name: nameOf(route),
      match,
      lacks,
    })),
    remarks: remarksOn(listener, ir),
  }
}

/** The nearest match of each route. */
function nearestOf(routes: readonly Route[], request: RoutableRequest): Rejection[] {
  const candidates = routes.flatMap((route, order) => candidatesOf(route, route, { order })).sort(byPrecedence)
  const byRoute = Map.groupBy(nearestRejections(candidates, request), ({ route }) => route)
  return [...byRoute.values()].flatMap(([nearest]) => nearest ?? []).slice(0, MOST)
}

/** Policies that run before routing may respond themselves, or change the values that routing uses. */
function remarksOn({ key, set }: Listener, { policies }: Ir): string[] {
  const byTarget = PoliciesByTarget.of(policies)
  const near = [
    ...byTarget.at('gateway', ''),
    ...(set === undefined ? [] : byTarget.at('listenerSet', set)),
    ...byTarget.at('listener', key),
  ]
  const names = near.filter(({ phase }) => phase === 'PreRouting').flatMap(({ traffic }) => Object.keys(traffic ?? {}))
  return names.length === 0
    ? []
    : [`found ${[...new Set(names)].join(', ')}, which runs before routing and is not evaluated here`]
}

/** The name of a route, after those of the routes that delegate to it. */
function titleOf(route: Route | undefined, routes: readonly Route[]): string | null {
  if (route === undefined) return null
  const title = route.rule === '' ? route.name : `${route.name}/${route.rule}`
  const above = route.within === undefined ? undefined : routes.find(({ key }) => key === route.within)
  return above === undefined ? title : `${titleOf(above, routes)} → ${title}`
}

interface Target {
  authority: string
  scheme: string
  port: number | null
  pathAndQuery: string
}

/** Parses the URL. The path keeps its bytes, because the router decodes nothing. */
function readTarget(url: string): Target | null {
  if (url.startsWith('/')) return { authority: '', scheme: 'http', port: null, pathAndQuery: url }
  const [, scheme = '', authority = '', rest = ''] = /^(https?):\/\/([^/?#\s@]+)(?=[/?#]|$)([^#]*)/i.exec(url) ?? []
  if (authority === '') return null
  const given = /:(\d{1,5})$/.exec(authority)?.[1]
  const port = given === undefined ? (scheme.toLowerCase() === 'https' ? 443 : 80) : Number(given)
  return { authority, scheme: scheme.toLowerCase(), port, pathAndQuery: rest.startsWith('/') ? rest : `/${rest}` }
}
