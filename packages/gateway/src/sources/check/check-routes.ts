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
  if ((protocol === 'TCP' || protocol === 'UDP') && routes.length > 1) {
    const found = `found ${routes.length} routes on a ${protocol} listener`
    report('conflict', listener.at('routes'), { found, expected: 'at most one, because nothing tells them apart' })
  }
  const isAnswered = ANSWERING.some((policy) => listener.at('policies').has(policy))
  const finding = isAnswered ? SETTLED.answeredRoute : SETTLED.route
  for (const route of routes) {
    if (protocol === 'TLS' || protocol === 'TCP' || protocol === 'UDP')
      checkRawRoute(route, protocol, backendsByName, report)
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

/** A route of a TLS, TCP or UDP listener passes bytes on, so nothing that speaks of requests can hold. */
function checkRawRoute(
  route: Spot,
  protocol: 'TLS' | 'TCP' | 'UDP',
  backendsByName: ReadonlyMap<string, Spot>,
  report: Report,
): void {
  const refuse = (spot: Spot, expected: string): void => {
    if (!spot.exists) return
    report('conflict', spot, { found: `found \`${String(spot.path.at(-1))}\` on a ${protocol} listener`, expected })
  }
  const refusePolicies = (policies: Spot): void => {
    const { without, only } = BACKEND_POLICIES[protocol]
    for (const name of without) refuse(policies.at(name), only)
  }
  refuse(route.at('matches'), 'no matches, because bytes are passed on unread')
  if (protocol !== 'TLS') refuse(route.at('hostnames'), `no hostnames, because ${protocol} names none`)
  const policies = route.at('policies')
  for (const name of policies.keys) {
    if (name !== 'backend' && name !== 'authorization' && name !== 'shadow') {
      refuse(policies.at(name), 'no policy but `authorization` and `backend`')
    }
  }
  const shadow = policies.at('shadow')
  for (const name of shadow.keys) {
    if (name !== 'authorization') refuse(shadow.at(name), 'no shadow but that of `authorization`')
  }
  refusePolicies(policies.at('backend'))
  const entries = route.at('backends').items
  for (const entry of entries) {
    refusePolicies(entry.at('policies'))
    const named = backendsByName.get(entry.at('backend').text ?? '')
    for (const name of SPEAKS_HTTP) {
      refuse(entry.at(name), 'a backend that takes bytes')
      if (named?.at(name).exists) {
        const found = `found a backend of \`${name}\` on a ${protocol} listener`
        report('conflict', entry.at('backend'), { found, expected: 'a backend that takes bytes' })
      }
    }
    if (protocol === 'UDP') checkDatagramEntry(entry, named, report)
    if (protocol === 'TLS') continue
    refuse(entry.at('dynamicForwardProxy'), `a fixed destination, because ${protocol} names none`)
    if (named?.at('dynamicForwardProxy').exists) {
      const found = `found a dynamic forward proxy on a ${protocol} listener`
      report('conflict', entry.at('backend'), {
        found,
        expected: `a fixed destination, because ${protocol} names none`,
      })
    }
  }
  if (entries.length === 0) {
    report('missing_key', route, { found: 'found a route without backends', expected: 'at least one backend' })
  }
}

/** Datagrams pass neither TLS nor a tunnel, and no socket file takes them; a named backend may have them for others. */
function checkDatagramEntry(entry: Spot, named: Spot | undefined, report: Report): void {
  const spot = entry.at('backend')
  for (const name of ['tls', 'tunnel']) {
    if (named?.in('policies', name).exists) {
      const found = `found a backend with \`${name}\` on a UDP listener`
      report('conflict', spot, { found, expected: `a backend without \`${name}\`, which datagrams cannot pass` })
    }
  }
  const isFile = entry.at('host').text?.startsWith('unix:') === true
  if (isFile || named?.in('static', 'unixPath').exists) {
    const found = 'found a socket file on a UDP listener'
    report('conflict', isFile ? entry.at('host') : spot, { found, expected: 'a host and a port' })
  }
}

/** The backend policies that do not hold for a protocol. */
const BACKEND_POLICIES = {
  TLS: { without: ['http', 'mcp'], only: '`tcp`, `tls`, `tunnel` and `health` only' },
  TCP: { without: ['http', 'mcp'], only: '`tcp`, `tls`, `tunnel` and `health` only' },
  UDP: {
    without: ['http', 'mcp', 'tcp', 'tls', 'tunnel', 'auth', 'extAuth', 'transformation', 'ai'],
    only: '`health` only',
  },
} as const

/** Kinds of backends that have nothing to do with bytes alone. */
const SPEAKS_HTTP = ['inferencePool', 'ai', 'mcp', 'aws'] as const
