/** The types of the admin API for rehearsals. */

/** Why a rehearsal ended: somebody ended it, its time or its lease ran out, or another config became active. */
export type RehearsalEnd = 'ended' | 'time' | 'lease' | 'config'

/** A rehearsal of a slow or failing backend. */
export interface RehearsalView {
  readonly id: string
  /** The backend or route that is rehearsed. */
  readonly subject: { readonly kind: 'backend' | 'route'; readonly name: string }
  /** The credential of the person or program that started it. */
  readonly by: string
  /** The share of the calls, in percent. */
  readonly percentage: number
  readonly delayMs: number | null
  readonly status: number | null
  /** In milliseconds since 1970. */
  readonly startedAt: number
  readonly endsAt: number
  /** The rehearsal ends this long after its last renewal. */
  readonly leaseMs: number
  /** The keys of the routes whose calls may be affected. */
  readonly routes: readonly string[]
}

export interface EndedRehearsalView extends RehearsalView {
  readonly endedAt: number
  readonly end: RehearsalEnd
}

/** The response of `GET /api/rehearsal`. */
export interface RehearsalStateView {
  /** Null when nothing is rehearsed. */
  readonly current: RehearsalView | null
  /** The one that ended last. */
  readonly last: EndedRehearsalView | null
}
