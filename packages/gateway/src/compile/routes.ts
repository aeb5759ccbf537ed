import { createDelegatingTable } from './load-features.ts'
import { lazyRoute, type RouteParts } from './route.ts'
import { affectedBy } from '../ir/affected.ts'
import type { ChangedIr } from '../ir/change.ts'
import type { Ir, Listener, Route } from '../ir/resources.ts'
import { SharingMap } from '../collections/sharing-map.ts'
import type { CompiledRoute } from '../pipeline/compiled/compiled.ts'
import { makeEach } from '../pipeline/compiled/config-fault.ts'
import { candidatesOf } from '../pipeline/route/candidate.ts'
import { createHostnameTable, type HostnameTable } from '../pipeline/route/hostname.ts'
import type { CurrentParts, LazyRoute } from '../pipeline/compiled/lazy-route.ts'
import { type RouteLookup, RouteTable, type TableEntry } from '../pipeline/route/route-table.ts'

type RouteEntry = LazyRoute<RouteParts>
type PlacedRoute = TableEntry<RouteEntry> & { route: Route }
type Source = Pick<Ir, 'listeners' | 'routes'>

/** The routing tables of one listener. */
export interface ListenerRoutes {
  /** Routes of HTTP. */
  table: RouteLookup<CompiledRoute>
  /** Routes by server name, for TCP and TLS. */
  raw: HostnameTable<CompiledRoute>
}

/** The next generation of routes. Until `adopt` is called, the previous generation stays unchanged. */
export interface NextRoutes {
  routes: CompiledRoutes
  adopt: () => void
}

/** The routes of a generation. */
export class CompiledRoutes {
  readonly byKey: SharingMap<RouteEntry>
  readonly #list: readonly Route[]
  readonly #byListener: ReadonlyMap<string, ListenerRoutes>
  readonly #parts: CurrentParts<RouteParts>

  private constructor(
    byKey: SharingMap<RouteEntry>,
    byListener: ReadonlyMap<string, ListenerRoutes>,
    rest: { list: readonly Route[]; parts: CurrentParts<RouteParts> },
  ) {
    this.byKey = byKey
    this.#byListener = byListener
    this.#list = rest.list
    this.#parts = rest.parts
  }

  static of({ listeners, routes }: Source, current: RouteParts): CompiledRoutes {
    const parts = { current }
    const placed = placedOf(routes, listeners, parts)
    const placedByListener = Map.groupBy(placed, ({ route }) => route.listener)
    const byListener = makeEach(listeners, (listener): [string, ListenerRoutes] => {
      const own = placedByListener.get(listener.key) ?? []
      const placedHere = isHttp(listener) ? own : []
      const table = readable(placedHere, current, tableOf)
      return [listener.key, { table, raw: rawOf(listener, own) }]
    })
    const byKey = SharingMap.of(placed.map(({ route, value }): [string, RouteEntry] => [route.key, value]))
    return new CompiledRoutes(byKey, new Map(byListener), { list: routes, parts })
  }

  of(listener: Listener): ListenerRoutes {
    const found = this.#byListener.get(listener.key)
    if (found === undefined) throw new Error(`found no listener ${listener.key}`)
    return found
  }

  /**
   * The routes after a change. Unaffected routes are the same objects, and hostnames without an affected route are not
   * rebuilt.
   */
  after({ listeners, routes }: Source, changed: ChangedIr, next: RouteParts): NextRoutes {
    const remade = affectedBy(changed, next.index).routesIn(routes)
    if (remade.length === routes.length) return { routes: CompiledRoutes.of({ listeners, routes }, next), adopt() {} }
    const came = placedOf(remade, listeners, this.#parts)
    const gone = new Map([...changed.gone.routes, ...remade].map((route) => [route.key, route]))
    const byKey = this.byKey.with([
      ...gone.keys().map((key) => [key, undefined] as const),
      ...came.map(({ route, value }) => [route.key, value] as const),
    ])
    const byListener = this.#tablesAfter({ listeners, routes }, { byKey, came, gone: [...gone.values()], next })
    const [current, before] = [this.#parts, this.#parts.current]
    const replaced = [...gone.keys()].flatMap((key) => this.byKey.get(key) ?? [])
    return {
      routes: new CompiledRoutes(byKey, byListener, { list: routes, parts: current }),
      adopt() {
        for (const route of replaced) route.pin(before)
        current.current = next
      },
    }
  }

  #tablesAfter(
    { listeners, routes }: Source,
    {
      byKey,
      came,
      gone,
      next,
    }: { byKey: SharingMap<RouteEntry>; came: readonly PlacedRoute[]; gone: readonly Route[]; next: RouteParts },
  ): Map<string, ListenerRoutes> {
    const cameByListener = Map.groupBy(came, ({ route }) => route.listener)
    const goneByListener = Map.groupBy(gone, ({ listener }) => listener)
    const isInPlace = haveSameKeys(this.#list, routes)
    const made = makeEach(listeners, (listener): [string, ListenerRoutes] => {
      const { key } = listener
      const known = this.#byListener.get(key)
      const [own = [], lost = []] = [cameByListener.get(key), goneByListener.get(key)]
      if (known !== undefined && own.length + lost.length === 0) return [key, known]
      const all = isInPlace && isHttp(listener) ? null : routes.filter((route) => route.listener === key)
      const lostKeys = lost.map((route) => route.key)
      const raw = isHttp(listener) ? [] : (all ?? []).flatMap((route) => placedAt(route, byKey))
      const before = known?.table ?? RouteTable.of([])
      const table = own.some(delegates)
        ? readable(
            routes.flatMap((route) => (route.listener === key ? placedAt(route, byKey) : [])),
            next,
            tableOf,
          )
        : readable(isHttp(listener) ? own : [], next, (each) =>
            before.after({ gone: lostKeys, came: each, order: all }),
          )
      return [key, { table, raw: rawOf(listener, raw) }]
    })
    return new Map(made)
  }
}

function placedOf(
  routes: readonly Route[],
  listeners: readonly Listener[],
  parts: CurrentParts<RouteParts>,
): PlacedRoute[] {
  const byKey = new Map(listeners.map((listener) => [listener.key, listener]))
  return routes.flatMap((route) => {
    const listener = byKey.get(route.listener)
    return listener === undefined ? [] : [{ route, value: lazyRoute(route, listener, parts) }]
  })
}

/**
 * Makes a routing table. A route whose matches cannot be compiled is left out, because its requests cannot be told from
 * others.
 */
function readable<Table>(
  placed: PlacedRoute[],
  { containment }: RouteParts,
  make: (placed: PlacedRoute[]) => Table,
): Table {
  try {
    return make(placed)
  } catch (error) {
    const compiles = ({ route }: PlacedRoute): boolean =>
      containment.make(
        { kind: 'route', key: route.key },
        () => Array.isArray(candidatesOf(route, null, { order: 0 })),
        () => false,
      )
    const left = placed.filter(compiles)
    if (left.length === placed.length) throw error
    return make(left)
  }
}

function tableOf(placed: readonly PlacedRoute[]): RouteLookup<CompiledRoute> {
  return placed.some(delegates) ? createDelegatingTable(placed) : RouteTable.of(placed)
}

function delegates({ route }: PlacedRoute): boolean {
  return route.delegates === true
}

function placedAt(route: Route, byKey: SharingMap<RouteEntry>): PlacedRoute[] {
  const value = byKey.get(route.key)
  return value === undefined ? [] : [{ route, value }]
}

function rawOf(listener: Listener, own: readonly PlacedRoute[]): HostnameTable<CompiledRoute> {
  if (isHttp(listener)) return NO_RAW
  return createHostnameTable(
    own.flatMap(({ route, value }) => hostnamesOf(route).map((name) => [name, value] as const)),
  )
}

const NO_RAW = createHostnameTable<CompiledRoute>([])

function hostnamesOf(route: Route): string[] {
  return route.hostnames.length === 0 ? [''] : route.hostnames
}

function isHttp({ protocol }: Listener): boolean {
  return protocol === 'HTTP' || protocol === 'HTTPS'
}

function haveSameKeys(before: readonly Route[], after: readonly Route[]): boolean {
  return before.length === after.length && before.every((route, index) => hasKeyOf(route, after[index]))
}

function hasKeyOf(route: Route, other: Route | undefined): boolean {
  return route === other || route.key === other?.key
}
