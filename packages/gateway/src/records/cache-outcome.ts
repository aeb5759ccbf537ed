/** The outcome of the response cache for one call. */
export interface CacheOutcome {
  readonly status: 'hit' | 'miss' | 'bypass'
  /** The age of a stored answer; null without one. */
  readonly ageSeconds: number | null
  /** Why the call bypassed the cache; otherwise null. */
  readonly reason: string | null
  /** The search for a similar request; absent when there was none. */
  readonly search?: CacheSearch
}

/** The search for a similar request whose answer is stored. */
export interface CacheSearch {
  /** The cosine similarity of the nearest request, rounded down to four digits; absent when none is near. */
  readonly similarity?: number
  /** The id of the record of the nearest request; absent when that was not recorded. */
  readonly neighbor?: string
  /** Why the request was not compared with others. */
  readonly skipped?: string
}

/** The value of `x-portico-cache`. Clients are told about a neighbor only when they get its answer. */
export function cacheHeader({ status, ageSeconds, reason, search }: CacheOutcome): string {
  const { similarity, skipped } = search ?? {}
  const parts = [
    status,
    ageSeconds === null ? '' : `age=${ageSeconds}`,
    reason === null ? '' : `reason=${reason}`,
    status !== 'hit' || similarity === undefined ? '' : `similarity=${similarity}`,
    skipped === undefined ? '' : `semantic=${skipped}`,
  ]
  return parts.filter((part) => part !== '').join('; ')
}

/** Counts the final outcome of each call for one cache. */
export interface CacheUseCounter {
  count(status: CacheOutcome['status'], savedNanoDollars: number | null): void
}
