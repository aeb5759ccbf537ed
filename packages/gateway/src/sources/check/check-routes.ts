import { checkUnique, protocolOf } from './report.ts'
import type { CheckOnce, Report } from './report.ts'
import { SETTLED } from './settled.ts'
import type { Spot } from './tree.ts'

interface Checks {
  backendsByName: ReadonlyMap<string, Spot>
  report: Report
  warn: Report
  once: CheckOnce
}

export function checkRoutes(listener: Spot, { backendsByName, report, warn, once }: Checks): void {
  const routes = listener.at('routes').items
  checkUnique(routes, routeIdentity, 'route', report)
  const protocol = protocolOf(listener)
  if (protocol === 'TCP' && routes.length > 1) {
    const found = `found ${routes.length} routes on a TCP listener`
    report('conflict', listener.at('routes'), { found, expected: 'at most one, because nothing tells them apart' })
  }
  const isAnswered = ANSWERING.some((policy) => listener.at('policies').has(policy))
  const finding = isAnswered ? SETTLED.answeredRoute : SETTLED.route
  for (const route of routes) {
    if (protocol === 'TLS' || protocol === 'TCP') checkRawRoute(route, protocol, backendsByName, report)
    else once(route, finding, () => checkHttpRoute(route, isAnswered, report, warn))
  }
}

/** Policies by which no request of a route needs a backend. */
const ANSWERING = ['directResponse', 'requestRedirect'] as const

/** Several rules may make up one route. */
function routeIdentity(route: Spot): string {
  const name = route.at('name').text ?? `route${String(route.path.at(-1))}`
  const rule = route.at('ruleName').text
  return rule === null ? name : `${name}/${rule}`
}

function checkHttpRoute(route: Spot, isAnswered: boolean, report: Report, warn: Report): void {
  const policies = route.at('policies')
  for (const policy of ['urlRewrite', 'requestRedirect']) {
    if (!policies.has(policy)) continue
    const prefix = policies.in(policy, 'path', 'prefix')
    if (!prefix.exists) continue
    const other = route
      .at('matches')
      .items.find((match) => match.in('path', 'exact').exists || match.in('path', 'regex').exists)
    if (other === undefined) continue
    const found = `found \`prefix\` on a route with an exact or regex match`
    report('conflict', prefix, {
      found,
      expected: 'only `pathPrefix` matches beside it',
      suggestion: 'use `path.full`',
    })
  }
  if (policies.has('requestRedirect')) checkPrefixRedirect(route, warn)
  const backends = route.at('backends').items
  const answers = isAnswered || ANSWERING.some((policy) => policies.has(policy))
  if (answers || backends.some((entry) => entry.at('weight').value !== 0)) return
  const found =
    backends.length === 0 ? 'found a route without backends' : 'found a route whose backends all have weight 0'
  warn('no_effect', route, {
    found,
    expected: 'a backend, `directResponse` or `requestRedirect`; every request gets 500',
  })
}

/** Without a prefix to replace, the new prefix comes before every path, also before the one that it has led to. */
function checkPrefixRedirect(route: Spot, warn: Report): void {
  const redirect = route.in('policies', 'requestRedirect')
  const prefix = redirect.in('path', 'prefix')
  if (!prefix.exists || redirect.has('authority')) return
  const matches = route.at('matches').items
  const hasPrefix = (match: Spot): boolean => {
    const { text } = match.in('path', 'pathPrefix')
    return text !== null && text !== '/'
  }
  const isOther = (match: Spot): boolean => match.in('path', 'exact').exists || match.in('path', 'regex').exists
  if (matches.some(isOther) || (matches.length > 0 && matches.every(hasPrefix))) return
  warn('no_effect', prefix, {
    found: 'found `prefix` on a route that matches every path, so that clients are redirected without end',
    expected: 'a match with `pathPrefix`, which `prefix` replaces',
    suggestion: 'add `matches: [{ path: { pathPrefix: /old } }]`, or use `path.full`',
  })
}

/** A route of a TLS or TCP listener passes bytes on, so nothing that speaks of requests can hold. */
function checkRawRoute(route: Spot, protocol: string, backendsByName: ReadonlyMap<string, Spot>, report: Report): void {
  const refuse = (spot: Spot, expected: string): void => {
    if (!spot.exists) return
    report('conflict', spot, { found: `found \`${String(spot.path.at(-1))}\` on a ${protocol} listener`, expected })
  }
  refuse(route.at('matches'), 'no matches, because bytes are passed on unread')
  if (protocol === 'TCP') refuse(route.at('hostnames'), 'no hostnames, because TCP names none')
  const policies = route.at('policies')
  for (const name of policies.keys) if (name !== 'backend') refuse(policies.at(name), 'no policy but `backend`')
  for (const name of ['http', 'mcp']) {
    refuse(route.in('policies', 'backend', name), '`tcp`, `tls`, `tunnel` and `health` only')
  }
  const entries = route.at('backends').items
  for (const entry of entries) {
    for (const name of ['http', 'mcp']) refuse(entry.in('policies', name), '`tcp`, `tls`, `tunnel` and `health` only')
    const named = backendsByName.get(entry.at('backend').text ?? '')
    for (const name of SPEAKS_HTTP) {
      refuse(entry.at(name), 'a backend that takes bytes')
      if (named?.at(name).exists) {
        const found = `found a backend of \`${name}\` on a ${protocol} listener`
        report('conflict', entry.at('backend'), { found, expected: 'a backend that takes bytes' })
      }
    }
    if (protocol !== 'TCP') continue
    refuse(entry.at('dynamicForwardProxy'), 'a fixed destination, because TCP names none')
    if (named?.at('dynamicForwardProxy').exists) {
      const found = 'found a dynamic forward proxy on a TCP listener'
      report('conflict', entry.at('backend'), { found, expected: 'a fixed destination, because TCP names none' })
    }
  }
  if (entries.length === 0) {
    report('missing_key', route, { found: 'found a route without backends', expected: 'at least one backend' })
  }
}

/** Kinds of backends that have nothing to do with bytes alone. */
const SPEAKS_HTTP = ['ai', 'mcp', 'aws'] as const
