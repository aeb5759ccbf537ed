import { LRUCache } from 'lru-cache'
import { choose, type Standing } from './balance.ts'
import type { EndpointWatcher } from '../upstream-types.ts'
import { Endpoint, type EndpointState } from './endpoint.ts'
import { PlainEndpoint } from './plain-endpoint.ts'
import { EndpointLease, type EndpointOwner, type EndpointServices } from './endpoint-lease.ts'

export interface NamedState extends EndpointState {
  /** Key of the backend, provider or target. */
  readonly backend: string
  readonly name: string
}

/** The endpoints of a worker, by backend and address; they outlive config generations. */
export class Endpoints {
  readonly #services: EndpointServices
  readonly #endpointsByKey: LRUCache<string, Endpoint>
  /** Key of each endpoint's backend, for `states`. */
  readonly #backends = new WeakMap<Endpoint, string>()

  constructor(services: EndpointServices = OF_ONE_WORKER, most = MAX_ENDPOINTS) {
    this.#services = services
    this.#endpointsByKey = new LRUCache({ max: most })
  }

  /** Scores under a `health` policy are shared by all workers; other scores do not take a slot of the shared table. */
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

  /** Chooses the endpoint for a call: the `wanted` endpoint when it is usable. */
  choose<Candidate extends { endpoint: Endpoint }>(
    owner: EndpointOwner,
    candidates: readonly Candidate[],
    watcher: EndpointWatcher,
    wanted?: string,
  ): Candidate {
    const { random, monotonic } = this.#services
    const [first] = candidates
    if (first === undefined) throw new Error('there is no endpoint to choose')
    if (candidates.length === 1) return first
    const now = monotonic()
    const rule = owner.health?.eviction ?? null
    const standingOf = ({ endpoint }: Candidate): Standing =>
      endpoint.standing(now, rule, watcher.hasTried?.(endpoint.name) ?? false)
    const own = wanted === undefined ? undefined : candidates.find(({ endpoint }) => endpoint.name === wanted)
    if (own !== undefined) {
      const { evicted, tried } = standingOf(own)
      if (!evicted && !tried) return own
    }
    if (candidates.length > MANY) {
      // With very many endpoints, a random sample is used, as long as the sample has a usable endpoint.
      const some = Array.from({ length: MANY }, () => candidates[Math.floor(random() * candidates.length)] ?? first)
      const standings = some.map(standingOf)
      const index = choose(standings, random)
      if (standings[index]?.evicted === false) return some[index] ?? first
    }
    return candidates[choose(candidates.map(standingOf), random)] ?? first
  }

  lease(owner: EndpointOwner, endpoint: Endpoint, watcher: EndpointWatcher | null = null): EndpointLease {
    return new EndpointLease(owner, endpoint, this.#services, watcher)
  }

  /** Tracks calls to the only address of a backend without a `health` policy. */
  plain(endpoint: Endpoint): PlainEndpoint {
    return new PlainEndpoint(endpoint, this.#services.monotonic)
  }

  /** Returns snapshots of all endpoints, for the admin API. */
  states(): NamedState[] {
    const now = this.#services.monotonic()
    return [...this.#endpointsByKey.values()].map((endpoint) => ({
      backend: this.#backends.get(endpoint) ?? '',
      name: endpoint.name,
      ...endpoint.state(now),
    }))
  }

  /**
   * Returns a set whose scores are not shared between workers: clients choose the names, and would fill the shared
   * table.
   */
  apart(): Endpoints {
    return new Endpoints({ ...this.#services, counters: { cells: () => null } })
  }
}

/** Services for a process of one worker: scores are not shared, and evictions are not reported. */
const OF_ONE_WORKER: EndpointServices = {
  counters: { cells: () => null },
  random: Math.random,
  monotonic: () => performance.now(),
  evicted() {},
}

const MAX_ENDPOINTS = 4096
const MANY = 16
