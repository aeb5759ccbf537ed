import type { Route } from '../../ir/resources.ts'
import type { HostnameTable } from './hostname.ts'
import { createHostnameTable } from './hostname.ts'
import type { RankedCandidate, RouteCandidate } from './candidate.ts'
import { byPrecedence, candidatesOf } from './candidate.ts'
import { nearestRejections, type Rejection } from './lacks.ts'
import { PathIndex } from './path-index.ts'
import type { RoutableRequest } from './request.ts'

export type { RouteCandidate } from './candidate.ts'
export type { RoutableRequest } from './request.ts'

/**
 * The routes of one listener. Order of the Gateway API: the most specific hostname with a matching route wins; under one
 * hostname exact paths come first, then longer prefixes and regexes, then a method, more headers, more query
 * parameters, and the order of the list.
 */
export class RouteTable<T> {
  readonly #candidatesByValue: ReadonlyMap<T, RankedCandidate<T>[]>
  /** In order of precedence. */
  readonly #ranked: readonly RankedCandidate<T>[]
  readonly #indexes: ReadonlyMap<string, PathIndex<T>>
  readonly #table: HostnameTable<PathIndex<T>>

  /** Values are unique. Of `previous` is taken over what is about the same values, and the index of every hostname that stays as it was. */
  constructor(routes: readonly { route: Route; value: T }[], previous: RouteTable<T> | null = null) {
    const before = previous === null ? null : previous.#candidatesByValue
    const candidatesByValue = new Map<T, RankedCandidate<T>[]>()
    const made: RankedCandidate<T>[] = []
    for (const [order, { route, value }] of routes.entries()) {
      const known = before?.get(value)
      const candidates = known ?? candidatesOf(route, value)
      for (const each of candidates) each.order = order
      candidatesByValue.set(value, candidates)
      if (known === undefined) made.push(...candidates)
    }
    const ranked = previous === null ? [] : previous.#ranked
    const kept = ranked.filter(({ candidate }) => candidatesByValue.has(candidate.value))
    // Mostly in order already, which makes sorting a walk along the list.
    this.#ranked = [...kept, ...made].sort(byPrecedence)
    this.#candidatesByValue = candidatesByValue
    this.#indexes = indexesOf(this.#ranked, previous === null ? null : previous.#indexes)
    this.#table = createHostnameTable(this.#indexes)
  }

  find(request: RoutableRequest): RouteCandidate<T> | null {
    return this.#table.first(request.host, findIn<T>, request)
  }

  /** The same search, with the keys of the routes really compared, in order, and where none fits the nearest. */
  explain(request: RoutableRequest): { found: RouteCandidate<T> | null; evaluated: string[]; rejected: Rejection[] } {
    const compared: RouteCandidate<T>[] = []
    const found = this.#table.first(request.host, explainIn<T>, { request, compared })
    const rejected = found === null ? nearestRejections(this.#ranked, request) : []
    return { found, evaluated: [...new Set(compared.map(({ routeKey }) => routeKey))], rejected }
  }
}

function indexesOf<T>(
  ranked: readonly RankedCandidate<T>[],
  previous: ReadonlyMap<string, PathIndex<T>> | null,
): Map<string, PathIndex<T>> {
  const byHostname = new Map<string, RouteCandidate<T>[]>()
  for (const { hostnames, candidate } of ranked) {
    for (const hostname of hostnames) {
      const list = byHostname.get(hostname)
      if (list === undefined) byHostname.set(hostname, [candidate])
      else list.push(candidate)
    }
  }
  const indexes = new Map<string, PathIndex<T>>()
  for (const [hostname, candidates] of byHostname) {
    const known = previous?.get(hostname)
    indexes.set(hostname, known?.isOf(candidates) === true ? known : new PathIndex(candidates))
  }
  return indexes
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
