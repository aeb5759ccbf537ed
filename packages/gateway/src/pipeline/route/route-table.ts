import type { RouteRule } from './route-rule.ts'
import { SharingMap } from '../../collections/sharing-map.ts'
import { type HostnameTable, hostnameTableOf, isExact } from './hostname.ts'
import {
  byPrecedence,
  candidatesOf,
  type RoutePosition,
  type RankedCandidate,
  type RouteCandidate,
} from './candidate.ts'
import { nearestRejections, type Rejection } from './lacks.ts'
import type { RoutableRequest } from './request.ts'

export type { RouteCandidate } from './candidate.ts'
export type { RoutableRequest } from './request.ts'

/** A route and the value that the table returns for it. */
export interface TableEntry<T> {
  route: RouteRule
  value: T
}

/** The changes to the routes of a listener since the previous config. */
export interface RoutesChange<T> {
  /** Keys of routes that were removed or replaced. */
  gone: readonly string[]
  came: readonly TableEntry<T>[]
  /** All routes in their new order; null when every added route replaces a route of the same key. */
  order: readonly RouteRule[] | null
}

/** Finds the routes of requests. */
export interface RouteLookup<T> {
  find(request: RoutableRequest): RouteCandidate<T> | null
  /** Finds the route as `find` does; also returns the keys of the compared routes, and the nearest routes if none matches. */
  explain(request: RoutableRequest): { found: RouteCandidate<T> | null; evaluated: string[]; rejected: Rejection[] }
  /** Returns the changed table; only the hostnames of added and removed routes are computed again. Keys are unique. */
  after(change: RoutesChange<T>): RouteLookup<T>
}

/** The candidates of one route. */
interface RouteCandidates<T> extends RoutePosition {
  candidates: readonly RankedCandidate<T>[]
}

/** The candidates of one hostname, in order of precedence. */
interface HostRoutes<T> {
  ranked: readonly RankedCandidate<T>[]
  index: PathIndex<T>
}

interface Parts<T> {
  byKey: SharingMap<RouteCandidates<T>>
  /** Candidates by exact hostname. */
  exact: SharingMap<HostRoutes<T>>
  /** Candidates by every other hostname. */
  others: ReadonlyMap<string, HostRoutes<T>>
}

/**
 * The routes of one listener, in the precedence of the Gateway API: the most specific hostname with a matching route wins.
 * Within a hostname, exact paths come first, then longer prefixes and regexes, then routes with a method, more headers, more
 * query parameters, and last the order of the list.
 */
export class RouteTable<T> implements RouteLookup<T> {
  readonly #parts: Parts<T>
  readonly #table: HostnameTable<HostRoutes<T>>

  private constructor(parts: Parts<T>) {
    this.#parts = parts
    this.#table = hostnameTableOf(parts.exact, parts.others)
  }

  static of<T>(routes: readonly TableEntry<T>[]): RouteTable<T> {
    const ranked = routes.map(({ route, value }, order) => rankedOf(route, value, order))
    const byHostname = new Map<string, RankedCandidate<T>[]>()
    for (const each of ranked.flatMap(({ candidates }) => candidates)) {
      for (const hostname of each.hostnames) push(byHostname, hostname, each)
    }
    const hosts = [...byHostname].map(([name, list]) => [name, hostRoutesOf(list.sort(byPrecedence))] as const)
    return new RouteTable({
      byKey: SharingMap.of(routes.map(({ route }, index) => [route.key, ranked[index]!] as const)),
      exact: SharingMap.of(hosts.filter(([name]) => isExact(name))),
      others: new Map(hosts.filter(([name]) => !isExact(name))),
    })
  }

  after({ gone, came, order }: RoutesChange<T>): RouteTable<T> {
    const { byKey, exact, others } = this.#parts
    const lost = gone.flatMap((key) => byKey.get(key)?.candidates ?? [])
    const made = came.map(({ route, value }) => rankedOf(route, value, byKey.get(route.key)?.order ?? 0))
    const nextByKey = byKey.with([
      ...gone.map((key) => [key, undefined] as const),
      ...came.map(({ route }, index) => [route.key, made[index]!] as const),
    ])
    order?.forEach(({ key }, index) => {
      const ranked = nextByKey.get(key)
      if (ranked !== undefined) ranked.order = index
    })
    const touched = [
      ...this.#touched(
        lost,
        made.flatMap(({ candidates }) => candidates),
      ),
    ]
    const wild = touched.filter(([name]) => !isExact(name))
    return new RouteTable({
      byKey: nextByKey,
      exact: exact.with(touched.filter(([name]) => isExact(name))),
      others: wild.length === 0 ? others : new Map([...new Map([...others, ...wild])].flatMap(present)),
    })
  }

  /** Yields the new routes of every affected hostname; undefined when the hostname has no routes left. */
  *#touched(
    lost: readonly RankedCandidate<T>[],
    made: readonly RankedCandidate<T>[],
  ): Generator<readonly [string, HostRoutes<T> | undefined]> {
    const isLost = new Set(lost)
    const madeByHostname = new Map<string, RankedCandidate<T>[]>()
    for (const each of made) for (const hostname of each.hostnames) push(madeByHostname, hostname, each)
    for (const hostname of new Set([...lost, ...made].flatMap(({ hostnames }) => hostnames))) {
      const kept = (this.#at(hostname)?.ranked ?? []).filter((each) => !isLost.has(each))
      // The list is nearly sorted, so sorting is fast.
      const ranked = [...kept, ...(madeByHostname.get(hostname) ?? [])].sort(byPrecedence)
      yield [hostname, ranked.length === 0 ? undefined : hostRoutesOf(ranked)]
    }
  }

  #at(hostname: string): HostRoutes<T> | undefined {
    return isExact(hostname) ? this.#parts.exact.get(hostname) : this.#parts.others.get(hostname)
  }

  find(request: RoutableRequest): RouteCandidate<T> | null {
    return this.#table.first(request.host, findIn<T>, request)
  }

  explain(request: RoutableRequest): { found: RouteCandidate<T> | null; evaluated: string[]; rejected: Rejection[] } {
    const compared: RouteCandidate<T>[] = []
    const found = this.#table.first(request.host, explainIn<T>, { request, compared })
    const rejected = found === null ? nearestRejections(this.#ranked(), request) : []
    return { found, evaluated: [...new Set(compared.map(({ routeKey }) => routeKey))], rejected }
  }

  /** Returns all candidates in order of precedence. */
  #ranked(): RankedCandidate<T>[] {
    const all = this.#parts.byKey.entries().flatMap(([, { candidates }]) => candidates)
    return [...all].sort(byPrecedence)
  }
}

function rankedOf<T>(route: RouteRule, value: T, order: number): RouteCandidates<T> {
  const ranked: { order: number; candidates: RankedCandidate<T>[] } = { order, candidates: [] }
  ranked.candidates = candidatesOf(route, value, ranked)
  return ranked
}

function hostRoutesOf<T>(ranked: readonly RankedCandidate<T>[]): HostRoutes<T> {
  return { ranked, index: new PathIndex(ranked.map(({ candidate }) => candidate)) }
}

function present<V>([name, value]: readonly [string, V | undefined]): [string, V][] {
  return value === undefined ? [] : [[name, value]]
}

function push<V>(map: Map<string, V[]>, key: string, value: V): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}

function findIn<T>({ index }: HostRoutes<T>, request: RoutableRequest): RouteCandidate<T> | null {
  return index.find(request, null)
}

function explainIn<T>(
  { index }: HostRoutes<T>,
  context: { request: RoutableRequest; compared: RouteCandidate<T>[] },
): RouteCandidate<T> | null {
  return index.find(context.request, context.compared)
}

/** The candidates of one hostname by path. Exact paths and prefixes are looked up; only regexes are tried one by one. */
class PathIndex<T> {
  readonly #byExactPath = new Map<string, RouteCandidate<T>[]>()
  readonly #byPrefix = new Map<string, RouteCandidate<T>[]>()
  readonly #regexes: RouteCandidate<T>[] = []
  /** The number of regexes with precedence over a prefix, for prefixes that have any. */
  readonly #regexesBefore = new Map<RouteCandidate<T>, number>()
  #maxSegments = 0
  #maxLength = 0

  /** `candidates` must be in order of precedence. */
  constructor(candidates: readonly RouteCandidate<T>[]) {
    for (const candidate of candidates) {
      const { pathPrefix, match } = candidate
      if (pathPrefix !== null) this.#addPrefix(pathPrefix, candidate)
      else if (match.path.kind === 'exact') push(this.#byExactPath, match.path.value, candidate)
      else this.#regexes.push(candidate)
    }
  }

  /** Returns the first match in order of precedence; adds each compared candidate to `compared` if it is not null. */
  find(request: RoutableRequest, compared: RouteCandidate<T>[] | null): RouteCandidate<T> | null {
    const { path } = request
    const exact = this.#byExactPath.get(path)
    if (exact !== undefined) {
      for (const candidate of exact) if (holds(candidate, request, compared)) return candidate
    }
    const regexes = this.#regexes
    let nextRegex = 0
    if (this.#byPrefix.size > 0) {
      // From the longest possible prefix to the shortest, which is the order of precedence.
      let end = endOfSegments(path, this.#maxSegments)
      for (; end !== -1; end = end === 0 ? -1 : path.lastIndexOf('/', end - 1)) {
        const list = end <= this.#maxLength ? this.#byPrefix.get(path.slice(0, end)) : undefined
        if (list === undefined) continue
        for (const candidate of list) {
          const before = regexes.length === 0 ? 0 : (this.#regexesBefore.get(candidate) ?? 0)
          for (; nextRegex < before; nextRegex++) {
            const regex = regexes[nextRegex]
            if (regex !== undefined && holds(regex, request, compared)) return regex
          }
          if (holds(candidate, request, compared)) return candidate
        }
      }
    }
    for (; nextRegex < regexes.length; nextRegex++) {
      const regex = regexes[nextRegex]
      if (regex !== undefined && holds(regex, request, compared)) return regex
    }
    return null
  }

  #addPrefix(prefix: string, candidate: RouteCandidate<T>): void {
    push(this.#byPrefix, prefix, candidate)
    this.#maxSegments = Math.max(this.#maxSegments, countSlashes(prefix))
    this.#maxLength = Math.max(this.#maxLength, prefix.length)
    if (this.#regexes.length > 0) this.#regexesBefore.set(candidate, this.#regexes.length)
  }
}

function holds<T>(
  candidate: RouteCandidate<T>,
  request: RoutableRequest,
  compared: RouteCandidate<T>[] | null,
): boolean {
  compared?.push(candidate)
  const { conditions } = candidate
  if (conditions === null) return true
  for (const condition of conditions) if (!condition(request)) return false
  return true
}

function countSlashes(text: string): number {
  let count = 0
  for (let slash = text.indexOf('/'); slash !== -1; slash = text.indexOf('/', slash + 1)) count++
  return count
}

/** Returns the end of the first `segments` segments: the index of the next slash, or the length of the path. */
function endOfSegments(path: string, segments: number): number {
  let slash = path.indexOf('/')
  for (; slash !== -1 && segments > 0; segments--) slash = path.indexOf('/', slash + 1)
  return slash === -1 ? path.length : slash
}
