import type { SharedCounters } from './shared-counters.ts'
import type { Endpoint } from './endpoint.ts'
import type { EvictionRule } from './health.ts'
import { NoTunnels } from '../no-tunnels.ts'
import type { EndpointWatcher, UpstreamError } from '../upstream-types.ts'

export interface EndpointServices {
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
