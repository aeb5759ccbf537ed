import { LRUCache } from 'lru-cache'
import { choose, type Standing } from './balance.ts'
import type { EndpointWatcher } from './upstream-types.ts'
import { Endpoint, type EndpointState } from './endpoint.ts'
import { PlainEndpoint } from './plain-endpoint.ts'
import { EndpointCall, type EndpointOwner, type EndpointServices } from './endpoint-call.ts'

export interface NamedState extends EndpointState {
  /** Key of the backend, provider or target. */
  readonly backend: string
  readonly name: string
}

/** The endpoints of a worker, by backend and address; they outlive config generations. */
export class Endpoints {
  readonly #services: EndpointServices
  readonly #endpointsByKey: LRUCache<string, Endpoint>
  /** Keys of their backends, for those who look. */
  readonly #backends = new WeakMap<Endpoint, string>()

  constructor(services: EndpointServices, most = MAX_ENDPOINTS) {
    this.#services = services
    this.#endpointsByKey = new LRUCache({ max: most })
  }

  /** Scores that a policy speaks of are shared by all workers; others are not worth a place in their table. */
  get(owner: EndpointOwner, name: string): Endpoint {
    const shared = owner.health !== null
    const key = `${shared ? 'health' : 'own'}/${owner.key}/${name}`
    let endpoint = this.#endpointsByKey.get(key)
    if (endpoint === undefined) {
      endpoint = new Endpoint(name, shared ? this.#services.counters.cells(key) : null)
      this.#endpointsByKey.set(key, endpoint)
      this.#backends.set(endpoint, owner.key)
    }
    return endpoint
  }

  /** The one of them that a call goes to: the one that is wanted, if it is of use. */
  choose<Way extends { endpoint: Endpoint }>(
    owner: EndpointOwner,
    ways: readonly Way[],
    watcher: EndpointWatcher,
    wanted?: string,
  ): Way {
    const { random, monotonic } = this.#services
    const [first] = ways
    if (first === undefined) throw new Error('there is no way to choose')
    if (ways.length === 1) return first
    const now = monotonic()
    const rule = owner.health?.eviction ?? null
    const standingOf = ({ endpoint }: Way): Standing =>
      endpoint.standing(now, rule, watcher.hasTried?.(endpoint.name) ?? false)
    const own = wanted === undefined ? undefined : ways.find(({ endpoint }) => endpoint.name === wanted)
    if (own !== undefined) {
      const { evicted, tried } = standingOf(own)
      if (!evicted && !tried) return own
    }
    if (ways.length > MANY) {
      // Of very many a few stand for all, as long as one of them can be used.
      const some = Array.from({ length: MANY }, () => ways[Math.floor(random() * ways.length)] ?? first)
      const standings = some.map(standingOf)
      const index = choose(standings, random)
      if (standings[index]?.evicted === false) return some[index] ?? first
    }
    return ways[choose(ways.map(standingOf), random)] ?? first
  }

  visit(owner: EndpointOwner, endpoint: Endpoint, watcher: EndpointWatcher | null = null): EndpointCall {
    return new EndpointCall(owner, endpoint, this.#services, watcher)
  }

  /** Follows calls to an address that is the only one of a backend without a `health` policy. */
  plain(endpoint: Endpoint): PlainEndpoint {
    return new PlainEndpoint(endpoint, this.#services.monotonic)
  }

  /** How all of them do, for somebody who looks. */
  states(): NamedState[] {
    const now = this.#services.monotonic()
    return [...this.#endpointsByKey.values()].map((endpoint) => ({
      backend: this.#backends.get(endpoint) ?? '',
      name: endpoint.name,
      ...endpoint.state(now),
    }))
  }

  /** The same, with scores that no other worker shares: clients choose the names, and would fill the shared table. */
  apart(): Endpoints {
    return new Endpoints({ ...this.#services, counters: { cells: () => null } })
  }
}

const MAX_ENDPOINTS = 4096
const MANY = 16
