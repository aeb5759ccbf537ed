import type { ViewedEndpoint } from '../../admin/config-view.ts'
import type { NamedState } from '@portico/http/client'

/** The states of endpoints, merged from the reports of all workers. */
export class EndpointStates {
  readonly #statesByBackend = new Map<string, Map<string, NamedState[]>>()
  readonly #now: number
  /** The number of workers that did not report. */
  readonly unheard: number

  /** `told` has one list for each worker, null for a worker that did not report; `now` is in milliseconds since 1970. */
  constructor(told: readonly (readonly NamedState[] | null)[], now: number) {
    this.#now = now
    this.unheard = told.filter((states) => states === null).length
    for (const state of told.flatMap((states) => states ?? [])) {
      const byName = this.#statesByBackend.get(state.backend) ?? new Map<string, NamedState[]>()
      this.#statesByBackend.set(state.backend, byName.set(state.name, [...(byName.get(state.name) ?? []), state]))
    }
  }

  /** The endpoints of one backend, provider or target. */
  of(key: string): ViewedEndpoint[] {
    return [...(this.#statesByBackend.get(key) ?? [])].map(([name, states]) => this.#joined(name, states))
  }

  /** Workers that share health report the same state; otherwise the worst state is shown. */
  #joined(name: string, states: readonly NamedState[]): ViewedEndpoint {
    const most = (of: (state: NamedState) => number): number => Math.max(...states.map(of))
    const evictedForMs = most((state) => state.evictedForMs)
    const failures = most((state) => state.failures)
    const latency = most((state) => state.latencyMs)
    const [last] = states
      .flatMap(({ lastFailure }) => (lastFailure === null ? [] : [lastFailure]))
      .toSorted((one, other) => one.agoMs - other.agoMs)
    return {
      name,
      state: evictedForMs > 0 ? 'evicted' : failures > 0 ? 'failing' : 'healthy',
      isJudged: states.some(({ isShared }) => isShared),
      evictedUntil: evictedForMs > 0 ? Math.round(this.#now + evictedForMs) : null,
      evictions: most((state) => state.evictions),
      failures,
      health: Math.min(...states.map((state) => state.health)),
      latency: latency === 0 ? null : latency,
      pending: states.reduce((sum, { pending }) => sum + pending, 0),
      lastFailure: last === undefined ? null : { at: Math.round(this.#now - last.agoMs), cause: last.cause },
    }
  }
}

/** The states before any worker reported. */
export const NOTHING_KNOWN: EndpointStates = new EndpointStates([], 0)
