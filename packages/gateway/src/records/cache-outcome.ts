/** The outcome of the response cache for one call. */
export interface CacheOutcome {
  readonly status: 'hit' | 'miss' | 'bypass'
  /** The age of a stored answer; null without one. */
  readonly ageSeconds: number | null
  /** Why the call bypassed the cache; otherwise null. */
  readonly reason: string | null
}

/** The value of `x-portico-cache`. */
export function cacheHeader({ status, ageSeconds, reason }: CacheOutcome): string {
  if (ageSeconds !== null) return `${status}; age=${ageSeconds}`
  return reason === null ? status : `${status}; reason=${reason}`
}
