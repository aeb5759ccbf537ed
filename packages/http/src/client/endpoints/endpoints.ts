import { LRUCache } from 'lru-cache'
import { choose, type Standing } from './balance.ts'
import type { EndpointWatcher, UpstreamError } from '../upstream-types.ts'
import { Endpoint, type EndpointState, type EvictionRule } from './endpoint.ts'
import type { SharedCounters } from './shared-counters.ts'
import { NoTunnels } from '../no-tunnels.ts'

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

interface EndpointServices {
  counters: SharedCounters
  /** Uniform in [0, 1). */
  random: () => number
  /** Milliseconds of a monotonic clock with the same origin in every worker. */
  monotonic: () => number
  evicted: (eviction: Eviction) => void
}

export interface Eviction {
  /** Name of the backend. */
  backend: string
  endpoint: string
  durationMs: number
  /** Consecutive evictions since the last healthy response, including this eviction. */
  times: number
}

/** The backend that endpoints belong to, with its `health` policy. */
export interface EndpointOwner {
  key: string
  name: string
  health: HealthRule | null
}

/** A backend without a rule still has scores for load balancing, but its endpoints are never evicted. */
export interface HealthRule {
  /** Null only updates the score. */
  eviction: EvictionRule | null
}

/** One call to one endpoint, until the call has ended; updates the endpoint's score. */
export class EndpointLease {
  readonly #owner: EndpointOwner
  readonly #endpoint: Endpoint
  readonly #services: EndpointServices
  readonly #watcher: Pick<EndpointWatcher, 'hasEvicted'> | null
  readonly #startedAt: number
  /** Milliseconds to a healthy response that is not counted yet; -1 without such a response. */
  #latencyMs = -1
  #isCounted = false
  #isOver = false

  constructor(
    owner: EndpointOwner,
    endpoint: Endpoint,
    services: EndpointServices,
    watcher: Pick<EndpointWatcher, 'hasEvicted'> | null = null,
  ) {
    this.#watcher = watcher
    this.#owner = owner
    this.#endpoint = endpoint
    this.#services = services
    this.#startedAt = services.monotonic()
    endpoint.pending++
  }

  /**
   * Called when a response began. An unhealthy response counts at once, so that a retry uses another endpoint; a
   * healthy response counts when it ends.
   */
  answered(isUnhealthy: boolean, status = 0): void {
    if (isUnhealthy) this.#countUnhealthy(`status ${status}`)
    else this.#latencyMs = this.#services.monotonic() - this.#startedAt
  }

  /** Called when a connection without HTTP is open: it has no responses that could be judged. */
  connected(): void {
    this.answered(false)
    this.#countHealthy()
  }

  /** Called when the call ended, because it is complete or was canceled. */
  ended(): void {
    if (this.#leave() && this.#latencyMs !== -1) this.#countHealthy()
  }

  /**
   * Called when there was no response, or it broke off. A reused connection that the backend had closed says nothing
   * about the endpoint's health.
   */
  failed(error: UpstreamError | null = null): void {
    if (error !== null && (error.stale || error instanceof NoTunnels)) return this.ended()
    if (this.#leave()) this.#countUnhealthy(error?.code ?? 'broke_off')
  }

  #leave(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#endpoint.pending--
    return true
  }

  #countHealthy(): void {
    if (this.#isCounted) return
    this.#isCounted = true
    this.#endpoint.wasHealthy(this.#services.monotonic(), this.#rule, this.#latencyMs)
  }

  #countUnhealthy(cause: string): void {
    if (this.#isCounted) return
    this.#isCounted = true
    const now = this.#services.monotonic()
    const evicted = this.#endpoint.wasUnhealthy(now, this.#rule)
    this.#endpoint.lastFailure = { cause, at: now }
    if (evicted === null) return
    this.#watcher?.hasEvicted?.()
    this.#services.evicted({
      backend: this.#owner.name,
      endpoint: this.#endpoint.name,
      durationMs: evicted.evictedUntil - now,
      times: evicted.evictions,
    })
  }

  get #rule(): EvictionRule | null {
    return this.#owner.health?.eviction ?? null
  }
}

/**
 * The state of the only address of a backend without a `health` policy. Calls to it have no score. Failures, and the
 * first response after them, are recorded for the admin API.
 */
export class PlainEndpoint {
  readonly #endpoint: Endpoint
  readonly #monotonic: () => number
  #isFailing = false

  constructor(endpoint: Endpoint, monotonic: () => number) {
    this.#endpoint = endpoint
    this.#monotonic = monotonic
  }

  answered(status: number): void {
    if (status >= 500) this.#fail(`status ${status}`)
    else if (this.#isFailing) {
      this.#isFailing = false
      this.#endpoint.hasRecovered(this.#monotonic())
    }
  }

  failed(error: UpstreamError): void {
    // A reused connection that the backend had closed says nothing about the address's health.
    if (!error.stale && error.code !== 'internal' && !(error instanceof NoTunnels)) this.#fail(error.code)
  }

  #fail(cause: string): void {
    const now = this.#monotonic()
    this.#isFailing = true
    this.#endpoint.wasUnhealthy(now, null)
    this.#endpoint.lastFailure = { cause, at: now }
  }
}
