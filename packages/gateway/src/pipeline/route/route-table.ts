import type { Route } from '../../ir/resources.ts'
import type { HostnameTable } from './hostname.ts'
import { canonicalHostname, createHostnameTable } from './hostname.ts'
import type { RouteCandidate } from './candidate.ts'
import { rankedCandidates } from './candidate.ts'
import { nearestRejections, type Rejection } from './lacks.ts'
import type { PathIndex } from './path-index.ts'
import { createPathIndex } from './path-index.ts'
import type { RoutableRequest } from './request.ts'

export type { RouteCandidate } from './candidate.ts'
export type { RoutableRequest } from './request.ts'

/** The routes of one listener. */
export interface RouteTable<T> {
  find(request: RoutableRequest): RouteCandidate<T> | null
  /** The same search, with the keys of the routes really compared, in order, and where none fits the nearest. */
  explain(request: RoutableRequest): { found: RouteCandidate<T> | null; evaluated: string[]; rejected: Rejection[] }
}

/**
 * Order of the Gateway API: the most specific hostname with a matching route wins; under one hostname exact paths come
 * first, then longer prefixes and regexes, then a method, more headers, more query parameters, and the file order.
 */
export function compileRoutes<T>(routes: readonly { route: Route; value: T }[]): RouteTable<T> {
  const candidatesByHostname = new Map<string, RouteCandidate<T>[]>()
  const ranked = rankedCandidates(routes)
  for (const { hostnames, candidate } of ranked) {
    for (const hostname of new Set(hostnames.length === 0 ? [''] : hostnames.map(canonicalHostname))) {
      const list = candidatesByHostname.get(hostname)
      if (list === undefined) candidatesByHostname.set(hostname, [candidate])
      else list.push(candidate)
    }
  }
  const table: HostnameTable<PathIndex<T>> = createHostnameTable(
    Array.from(candidatesByHostname, ([hostname, candidates]) => [hostname, createPathIndex(candidates)] as const),
  )

  return {
    find: (request) => table.first(request.host, findIn<T>, request),
    explain(request) {
      const compared: RouteCandidate<T>[] = []
      const found = table.first(request.host, explainIn<T>, { request, compared })
      const rejected = found === null ? nearestRejections(ranked, request) : []
      return { found, evaluated: [...new Set(compared.map(({ routeKey }) => routeKey))], rejected }
    },
  }
}

function findIn<T>(index: PathIndex<T>, request: RoutableRequest): RouteCandidate<T> | null {
  return index.find(request, null)
}

function explainIn<T>(
  index: PathIndex<T>,
  context: { request: RoutableRequest; compared: RouteCandidate<T>[] },
): RouteCandidate<T> | null {
  return index.find(context.request, context.compared)
}
