import type { SourceLocation } from '../findings/explanation.ts'

/** The kinds of flips: the ways in which another config decides a recorded request differently. */
export type FlipKind =
  | 'newly-denied'
  | 'newly-limited'
  | 'newly-failed'
  | 'newly-admitted'
  | 'denied-differently'
  | 'route-moved'
  | 'backend-moved'
  | 'path-changed'
  | 'headers-changed'
  | 'model-changed'
  | 'price-changed'

export const FLIP_KINDS: readonly FlipKind[] = [
  'newly-denied',
  'newly-limited',
  'newly-failed',
  'newly-admitted',
  'denied-differently',
  'route-moved',
  'backend-moved',
  'path-changed',
  'headers-changed',
  'model-changed',
  'price-changed',
]

/** The recorded request that a report shows as the example of a group. */
export interface BacktestExample {
  /** The id of the request's record. */
  readonly id: string
  /** The start of the request, in milliseconds since 1970. */
  readonly at: number
  readonly method: string | null
  readonly host: string | null
  readonly path: string | null
  /** The name of the client's API key or user; null without one. */
  readonly key: string | null
  /** `before` is the recorded decision in words, `after` the decision of the other config. */
  readonly before: string
  readonly after: string
}

/** A group of requests that flip for the same cause. */
export interface FlipGroup {
  readonly kind: FlipKind
  readonly cause: string
  readonly count: number
  readonly example: BacktestExample
  /** The location of the config part that decides the example; null when it cannot be located. */
  readonly decidedAt: SourceLocation | null
}

/** A group of requests whose decision is unknown for the same cause. */
export interface UnknownGroup {
  readonly cause: string
  readonly count: number
  readonly example: BacktestExample
}

/**
 * The result of a back-test: the decisions of another config about recorded requests, compared with the recorded
 * decisions.
 */
export interface BacktestReport {
  readonly records: number
  /** The start of the first and the last request, in milliseconds since 1970; null without records. */
  readonly from: number | null
  readonly until: number | null
  /** The number of requests that both configs decide alike. */
  readonly same: number
  /** The number of requests with at least one flip. */
  readonly flipped: number
  /** The number of requests whose decision cannot be known. */
  readonly unknown: number
  /** The number of requests by kind of flip; kinds without requests are absent. */
  readonly counts: Readonly<Partial<Record<FlipKind, number>>>
  /** The groups of flips, ordered by kind, then by the number of requests. */
  readonly flips: readonly FlipGroup[]
  readonly unknowns: readonly UnknownGroup[]
  /** Sentences about what the whole report cannot know, such as limits that earlier requests used up. */
  readonly remarks: readonly string[]
  /** Whether the run ended before all records were decided. */
  readonly isCut: boolean
  readonly milliseconds: number
}
