import { ANY_MATCH, coversHost, type HttpRule } from '../../http/model.ts'
import type { ReadListener } from './listeners.ts'
import { compareRanks, hostRank, matchesOf, rankOf } from './precedence.ts'
import type { ReadRoute } from './routes.ts'

/** Policies whose effect on a request generated tests cannot predict. */
const CHANGES = ['transformation', 'extProc', 'abort', 'upgrades']

/**
 * Returns the rules of a port in the order in which requests are compared with them. After the rules of each listener
 * comes a rule for requests to its hostname that no route matches.
 */
export function rulesOf(listeners: readonly ReadListener[]): HttpRule[] {
  return listeners
    .toSorted((one, other) => compareRanks(hostRank(one.hostname), hostRank(other.hostname)))
    .flatMap(rulesOfListener)
}

function rulesOfListener(listener: ReadListener): HttpRule[] {
  const { hostname, routes, policies, at, otherwise } = listener
  const ranked = routes.flatMap((route) => {
    const hosts: (string | null)[] = route.hostnames.length === 0 ? [hostname] : (route.hostnames as string[])
    return hosts.flatMap((host) => {
      const own = hostname === null || host === null || coversHost(hostname, host) ? host : hostname
      const rank = hostRank(route.hostnames.length === 0 ? null : own)
      return matchesOf(route).map((match) => ({
        rank: [...rank, ...rankOf(match)],
        rule: {
          ...{ name: route.name, at: route.field.at, source: route.name, backends: [] },
          hosts: own === null ? [] : [own],
          matches: [match],
          policies: { ...policies, ...(route.status === null && route.policies) },
          outcome: outcomeOf(route, match),
        },
      }))
    })
  })
  const rest: HttpRule = {
    ...{ name: 'no route', at, source: '', matches: [ANY_MATCH], policies, backends: [] },
    hosts: hostname === null ? [] : [hostname],
    outcome: { kind: 'status', status: otherwise },
  }
  return [...ranked.toSorted((one, other) => compareRanks(one.rank, other.rank)).map(({ rule }) => rule), rest]
}

function outcomeOf(
  { status, policies, tested }: ReadRoute,
  { path }: HttpRule['matches'][number],
): HttpRule['outcome'] {
  if (status !== null) return { kind: 'status', status }
  if (CHANGES.some((name) => name in policies)) return { kind: 'untold' }
  const response = policies['directResponse'] as { status?: number } | undefined
  const redirect = policies['requestRedirect'] as { status?: number } | undefined
  if (redirect !== undefined) return { kind: 'status', status: redirect.status ?? 302 }
  if (response !== undefined)
    return typeof response.status === 'number' ? { kind: 'status', status: response.status } : { kind: 'untold' }
  const addresses = tested.flatMap((each) => (each.kind === 'http' ? each.address : []))
  const rewrite = (policies['urlRewrite'] as { path?: PathChange } | undefined)?.path
  const prefix = path === null ? '/' : path.kind === 'segments' ? path.path : null
  const isKnown = addresses.length > 0 && addresses.length === tested.length
  if (!isKnown || (rewrite?.prefix !== undefined && prefix === null)) return { kind: 'untold' }
  return { kind: 'proxy', addresses, pathFor: (from) => newPath(from, rewrite, prefix ?? '/') }
}

interface PathChange {
  readonly full?: string
  readonly prefix?: string
}

function newPath(path: string, change: PathChange | undefined, matched: string): string {
  if (change?.full !== undefined) return change.full
  if (change?.prefix === undefined) return path
  const rest = path.slice(matched.replace(/\/$/, '').length)
  const joined = `${change.prefix.replace(/\/$/, '')}${rest.startsWith('/') || rest === '' ? rest : `/${rest}`}`
  return joined === '' ? '/' : joined
}
