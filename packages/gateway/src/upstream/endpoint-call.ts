import type { SharedCounters } from './shared-counters.ts'
import type { Endpoint } from './endpoint.ts'
import type { EvictionRule } from './health.ts'
import { NoTunnels } from './no-tunnels.ts'
import type { EndpointWatcher, UpstreamError } from './upstream-types.ts'

export interface EndpointServices {
  counters: SharedCounters
  /** Uniform in [0, 1). */
  random: () => number
  /** Milliseconds that never go back, from the same beginning in every worker. */
  monotonic: () => number
  evicted: (eviction: Eviction) => void
}

export interface Eviction {
  /** Name of the backend. */
  backend: string
  endpoint: string
  durationMs: number
  /** Evictions since the last healthy answer, with this one. */
  times: number
}

/** Whose endpoints they are, and what the backend's `health` policy says of them. */
export interface EndpointOwner {
  key: string
  name: string
  health: HealthRule | null
}

/** A backend without it has scores, for the choice between its addresses; nothing of it is evicted. */
export interface HealthRule {
  /** Null moves the score only. */
  eviction: EvictionRule | null
}

/** One call at one endpoint, until nothing of it is left; keeps the endpoint's score. */
export class EndpointCall {
  readonly #owner: EndpointOwner
  readonly #endpoint: Endpoint
  readonly #services: EndpointServices
  readonly #watcher: Pick<EndpointWatcher, 'hasEvicted'> | null
  readonly #startedAt: number
  /** Milliseconds to a healthy answer that is not counted yet; -1 without one. */
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

  /** A response began. An unhealthy one counts at once, so that a retry goes elsewhere; a healthy one has yet to end. */
  answered(isUnhealthy: boolean, status = 0): void {
    if (isUnhealthy) this.#countUnhealthy(`status ${status}`)
    else this.#latencyMs = this.#services.monotonic() - this.#startedAt
  }

  /** There is a connection without HTTP on it: no answer of which could be judged. */
  connected(): void {
    this.answered(false)
    this.#countHealthy()
  }

  /** Nothing more comes, because all has come or nobody wants it. */
  ended(): void {
    if (this.#leave() && this.#latencyMs !== -1) this.#countHealthy()
  }

  /** There was no answer, or it broke off. That a used connection was closed says nothing of how the endpoint answers. */
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
