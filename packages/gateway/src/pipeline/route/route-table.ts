import type { RouteRule } from './route-rule.ts'
import { SharingMap } from '../../collections/sharing-map.ts'
import { type HostnameTable, hostnameTableOf, isExact } from './hostname.ts'
import { byPrecedence, candidatesOf, type Place, type RankedCandidate, type RouteCandidate } from './candidate.ts'
import { nearestRejections, type Rejection } from './lacks.ts'
import { PathIndex } from './path-index.ts'
import type { RoutableRequest } from './request.ts'

export type { RouteCandidate } from './candidate.ts'
export type { RoutableRequest } from './request.ts'

/** A route with what stands for it. */
export interface Placed<T> {
  route: RouteRule
  value: T
}

/** How the routes of a listener differ from those before. */
export interface RoutesChange<T> {
  /** Keys of those that are gone, or replaced by one that came. */
  gone: readonly string[]
  came: readonly Placed<T>[]
  /** All routes in their order; null when each that came stands where one of its key stood. */
  order: readonly RouteRule[] | null
}

interface Ranked<T> extends Place {
  candidates: readonly RankedCandidate<T>[]
}

/** What there is under one hostname, in order of precedence. */
interface HostRoutes<T> {
  ranked: readonly RankedCandidate<T>[]
  index: PathIndex<T>
}

interface Parts<T> {
  byKey: SharingMap<Ranked<T>>
  /** By hostnames that stand for one host. */
  exact: SharingMap<HostRoutes<T>>
  /** By all other hostnames. */
  others: ReadonlyMap<string, HostRoutes<T>>
}

/**
 * The routes of one listener. Order of the Gateway API: the most specific hostname with a matching route wins; under one
 * hostname exact paths come first, then longer prefixes and regexes, then a method, more headers, more query
 * parameters, and the order of the list.
 */
export class RouteTable<T> {
  readonly #parts: Parts<T>
  readonly #table: HostnameTable<HostRoutes<T>>

  private constructor(parts: Parts<T>) {
    this.#parts = parts
    this.#table = hostnameTableOf(parts.exact, parts.others)
  }

  static of<T>(routes: readonly Placed<T>[]): RouteTable<T> {
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

  /** The next table: only hostnames of what came and went are looked at. Keys are unique. */
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

  /** By hostname what there is from now on; undefined where nothing is left. */
  *#touched(
    lost: readonly RankedCandidate<T>[],
    made: readonly RankedCandidate<T>[],
  ): Generator<readonly [string, HostRoutes<T> | undefined]> {
    const isLost = new Set(lost)
    const madeByHostname = new Map<string, RankedCandidate<T>[]>()
    for (const each of made) for (const hostname of each.hostnames) push(madeByHostname, hostname, each)
    for (const hostname of new Set([...lost, ...made].flatMap(({ hostnames }) => hostnames))) {
      const kept = (this.#at(hostname)?.ranked ?? []).filter((each) => !isLost.has(each))
      // Mostly in order already, which makes sorting a walk along the list.
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

  /** The same search, with the keys of the routes really compared, in order, and where none fits the nearest. */
  explain(request: RoutableRequest): { found: RouteCandidate<T> | null; evaluated: string[]; rejected: Rejection[] } {
    const compared: RouteCandidate<T>[] = []
    const found = this.#table.first(request.host, explainIn<T>, { request, compared })
    const rejected = found === null ? nearestRejections(this.#ranked(), request) : []
    return { found, evaluated: [...new Set(compared.map(({ routeKey }) => routeKey))], rejected }
  }

  /** In order of precedence. */
  #ranked(): RankedCandidate<T>[] {
    const all = this.#parts.byKey.entries().flatMap(([, { candidates }]) => candidates)
    return [...all].sort(byPrecedence)
  }
}

function rankedOf<T>(route: RouteRule, value: T, order: number): Ranked<T> {
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
