import type { BackendsView, RoutesView, ViewedBackend } from '@portico/gateway/admin-config'
import type { Rate, Rates } from './rates.ts'

export interface MapNode {
  readonly id: string
  readonly kind: 'listener' | 'route' | 'backend'
  readonly name: string
  /** What it stands for, in a line. */
  readonly about: string
  /** Some of it is left out for a while, or all of it. */
  readonly evicted: Evicted | null
}

export interface Evicted {
  readonly isWhole: boolean
  /** When the first returns, in milliseconds since 1970. */
  readonly until: number
}

export interface MapEdge {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly rate: Rate | null
}

export interface MapGraph {
  readonly nodes: readonly MapNode[]
  readonly edges: readonly MapEdge[]
}

/** Listeners, their routes, and where those lead. */
export function mapGraph({ binds }: RoutesView, { backends }: BackendsView, rates: Rates): MapGraph {
  const nodes = new Map<string, MapNode>()
  const edges = new Map<string, MapEdge>()
  const known = new Map(backends.map((backend) => [backend.key, backend]))
  const put = (node: Omit<MapNode, 'evicted'>, evicted: Evicted | null = null): string => {
    nodes.set(node.id, { ...node, evicted })
    return node.id
  }
  const link = (from: string, to: string, rate: Rate | null): void => {
    edges.set(`${from}>${to}`, { id: `${from}>${to}`, from, to, rate })
  }
  for (const bind of binds) {
    for (const listener of bind.listeners) {
      const about = `${listener.protocol} :${bind.port}${listener.hostname === '' ? '' : ` ${listener.hostname}`}`
      const from = put({ id: `listener ${listener.key}`, kind: 'listener', name: listener.name, about })
      for (const route of listener.routes) {
        const first = route.matches[0]?.path
        const path = first === undefined ? '' : `${first.value}${first.kind === 'pathPrefix' ? '…' : ''}`
        const name = route.rule === '' ? route.name : `${route.name}/${route.rule}`
        const middle = put({ id: `route ${route.key}`, kind: 'route', name, about: path })
        link(from, middle, rates.of({ listener: listener.name, route: route.name }))
        for (const { backend, name: to } of route.backends) {
          const end = known.get(backend)
          const where =
            end === undefined
              ? ''
              : end.at ||
                end.groups
                  .flat()
                  .map((part) => part.name)
                  .join(', ')
          const node = { name: to === '' ? where : to, about: to === '' ? '' : where }
          put({ id: `backend ${backend}`, kind: 'backend', ...node }, end === undefined ? null : evictedOf(end))
          link(middle, `backend ${backend}`, rates.of({ route: route.name, backend: to }))
        }
      }
    }
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] }
}

/** Of a backend with parts the parts, of any other its addresses. */
function evictedOf({ groups, endpoints }: ViewedBackend): Evicted | null {
  const parts = groups.flat().map(({ health, endpoints: own }) => (health === null ? own : [health]))
  const all = parts.length > 0 ? parts : endpoints.map((endpoint) => [endpoint])
  const times = all.map((own) => {
    const until = own.flatMap(({ evictedUntil }) => evictedUntil ?? [])
    return until.length > 0 && until.length === own.length ? Math.min(...until) : null
  })
  const evicted = times.filter((until) => until !== null)
  return evicted.length === 0 ? null : { isWhole: evicted.length === all.length, until: Math.min(...evicted) }
}
