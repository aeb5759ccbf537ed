/** The types of the admin API for rehearsals. */

/** The reason why a rehearsal ended: a person ended it, its time or its lease ran out, or another config went live. */
export type RehearsalEnd = 'ended' | 'time' | 'lease' | 'config'

/** A rehearsal: a share of the calls to a backend is delayed or fails on purpose. */
export interface RehearsalView {
  readonly id: string
  /** The backend or route whose calls the rehearsal delays or aborts. */
  readonly subject: { readonly kind: 'backend' | 'route'; readonly name: string }
  /** The credential of the person or program that started the rehearsal. */
  readonly by: string
  /** The share of calls that the rehearsal affects, in percent. */
  readonly percentage: number
  readonly delayMs: number | null
  readonly status: number | null
  /** The start and the latest end of the rehearsal, in milliseconds since 1970. */
  readonly startedAt: number
  readonly endsAt: number
  /** The time from the last renewal to the end of the rehearsal, in milliseconds. */
  readonly leaseMs: number
  /** The keys of the routes whose calls the rehearsal may affect. */
  readonly routes: readonly string[]
}

export interface EndedRehearsalView extends RehearsalView {
  readonly endedAt: number
  readonly end: RehearsalEnd
}

/** The response of `GET /api/rehearsal`. */
export interface RehearsalStateView {
  /** The rehearsal that runs now; null when none runs. */
  readonly current: RehearsalView | null
  /** The rehearsal that ended last; null when none has ended. */
  readonly last: EndedRehearsalView | null
}
