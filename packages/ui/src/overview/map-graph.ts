import type {
  BackendsView,
  RoutesView,
  ViewedBackend,
  ViewedListener,
  ViewedRoute,
} from '@portico/gateway/admin-config'
import type { Rate, Rates } from './rates.ts'
import { groupRoutes, MOST_ITEMS, type RouteItem } from './route-groups.ts'
import { hasWords, pathsOf, titleOf } from './route-rows.ts'

export interface MapNode {
  readonly id: string
  /** A `group` has several routes, `backends` are those of a closed group. */
  readonly kind: 'listener' | 'group' | 'route' | 'backend' | 'backends'
  readonly name: string
  /** One line on what the box is. */
  readonly about: string
  /** The eviction of all or some of its endpoints; null when none is evicted. */
  readonly evicted: Eviction | null
  /** Whether a group is open; false for other kinds. */
  readonly isOpen: boolean
}

interface Eviction {
  readonly isWhole: boolean
  /** When the first returns, in milliseconds since 1970. */
  readonly until: number
}

interface MapEdge {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly rate: Rate | null
}

export interface MapGraph {
  readonly nodes: readonly MapNode[]
  readonly edges: readonly MapEdge[]
}

interface MapChoice {
  /** Whether routes are grouped where there are many. */
  readonly isGrouped: boolean
  /** Ids of groups that are open. */
  readonly open: ReadonlySet<string>
  /** Routes that have all of its words are shown. */
  readonly search: string
}

const EVERYTHING: MapChoice = { isGrouped: false, open: new Set(), search: '' }
/** A closed group leads to its backends themselves where it has no more than these. */
const FEW_BACKENDS = 3

/** The graph of listeners, their routes, and the backends of these. */
export function mapGraph(
  { binds }: RoutesView,
  { backends }: BackendsView,
  rates: Rates,
  choice: MapChoice = EVERYTHING,
): MapGraph {
  const map = new MapBuilder(backends, rates, choice)
  for (const bind of binds) for (const listener of bind.listeners) map.addListener(bind.port, listener)
  return map.graph()
}

class MapBuilder {
  readonly #nodes = new Map<string, MapNode>()
  readonly #edges = new Map<string, MapEdge>()
  readonly #backends: ReadonlyMap<string, ViewedBackend>
  readonly #rates: Rates
  readonly #choice: MapChoice

  constructor(backends: readonly ViewedBackend[], rates: Rates, choice: MapChoice) {
    this.#backends = new Map(backends.map((backend) => [backend.key, backend]))
    this.#rates = rates
    this.#choice = choice
  }

  graph(): MapGraph {
    return { nodes: [...this.#nodes.values()], edges: [...this.#edges.values()] }
  }

  addListener(port: number, listener: ViewedListener): void {
    const { search, isGrouped } = this.#choice
    const routes = listener.routes.filter((route) => hasWords(searchText(listener, route), search))
    if (routes.length === 0 && search.trim() !== '') return
    const about = `${listener.protocol} :${port}${listener.hostname === '' ? '' : ` ${listener.hostname}`}`
    const id = this.#put({ id: `listener ${listener.key}`, kind: 'listener', name: listener.name, about })
    const items = isGrouped
      ? groupRoutes(listener.key, routes)
      : routes.map((route) => ({ kind: 'route', route }) as const)
    this.#addItems(listener, id, items)
  }

  #addItems(listener: ViewedListener, from: string, items: readonly RouteItem[]): void {
    for (const item of items) {
      if (item.kind === 'route') {
        this.#addRoute(listener, from, item.route)
        continue
      }
      const isOpen = this.#choice.open.has(item.id)
      const about = `${item.routes.length} routes`
      const id = this.#put({ id: `group ${item.id}`, kind: 'group', name: item.name, about, isOpen })
      const names = new Set(item.routes.map(({ name }) => name))
      this.#link(from, id, this.#rates.of({ listener: listener.name, routes: names }))
      if (isOpen) this.#addItems(listener, id, groupRoutes(item.id, item.routes))
      else this.#addBackendsOf(listener, id, item.routes)
    }
  }

  #addRoute(listener: ViewedListener, from: string, route: ViewedRoute): void {
    const id = this.#put({
      id: `route ${route.key}`,
      kind: 'route',
      name: titleOf(route),
      about: pathsOf(route)[0] ?? '',
    })
    this.#link(from, id, this.#rates.of({ listener: listener.name, route: route.name }))
    for (const { backend, name } of route.backends) {
      this.#link(id, this.#putBackend(backend, name), this.#rates.of({ route: route.name, backend: name }))
    }
  }

  #addBackendsOf(listener: ViewedListener, from: string, routes: readonly ViewedRoute[]): void {
    const all = new Map(routes.flatMap(({ backends }) => backends.map(({ backend, name }) => [backend, name] as const)))
    const names = new Set(routes.map(({ name }) => name))
    if (all.size <= FEW_BACKENDS) {
      for (const [backend, name] of all) {
        const rate = this.#rates.of({ listener: listener.name, routes: names, backend: name })
        this.#link(from, this.#putBackend(backend, name), rate)
      }
      return
    }
    const evicted = [...all.keys()].flatMap((key) => {
      const found = this.#backends.get(key)
      return (found === undefined ? null : evictionOf(found)) ?? []
    })
    const whole = {
      isWhole: evicted.length === all.size && evicted.every(({ isWhole }) => isWhole),
      until: Math.min(...evicted.map(({ until }) => until)),
    }
    const about = [...all.values()].slice(0, MOST_ITEMS).join(', ')
    const node = { id: `backends ${from}`, kind: 'backends', name: `${all.size} backends`, about } as const
    this.#link(from, this.#put(node, evicted.length === 0 ? null : whole), null)
  }

  #putBackend(key: string, name: string): string {
    const found = this.#backends.get(key)
    const where =
      found === undefined ? '' : found.at || found.groups.flatMap((group) => group.map((part) => part.name)).join(', ')
    const node = { name: name === '' ? where : name, about: name === '' ? '' : where }
    return this.#put({ id: `backend ${key}`, kind: 'backend', ...node }, found === undefined ? null : evictionOf(found))
  }

  #put(node: Omit<MapNode, 'evicted' | 'isOpen'> & { isOpen?: boolean }, evicted: Eviction | null = null): string {
    this.#nodes.set(node.id, { isOpen: false, ...node, evicted })
    return node.id
  }

  #link(from: string, to: string, rate: Rate | null): void {
    this.#edges.set(`${from}>${to}`, { id: `${from}>${to}`, from, to, rate })
  }
}

function searchText(listener: ViewedListener, route: ViewedRoute): string {
  const backends = route.backends.map(({ name, backend }) => (name === '' ? backend : name))
  return [listener.name, titleOf(route), ...route.hostnames, ...pathsOf(route), ...backends].join(' ')
}

/** The eviction of a backend: of its providers or MCP servers, or else of its addresses. */
function evictionOf({ groups, endpoints }: ViewedBackend): Eviction | null {
  const parts = groups.flat().map(({ health, endpoints: own }) => (health === null ? own : [health]))
  const all = parts.length > 0 ? parts : endpoints.map((endpoint) => [endpoint])
  const times = all.map((own) => {
    const until = own.flatMap(({ evictedUntil }) => evictedUntil ?? [])
    return until.length > 0 && until.length === own.length ? Math.min(...until) : null
  })
  const evicted = times.filter((until) => until !== null)
  return evicted.length === 0 ? null : { isWhole: evicted.length === all.length, until: Math.min(...evicted) }
}
