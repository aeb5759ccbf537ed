import type { CacheOutcome, CacheUseCounter } from '../records/cache-outcome.ts'

/** How often a cache was used in one worker, since the worker started. */
export class CacheUses implements CacheUseCounter {
  hits = 0
  misses = 0
  bypasses = 0
  /** The known costs of the calls that hits replaced. */
  savedNanoDollars = 0n

  count(status: CacheOutcome['status'], savedNanoDollars: number | null): void {
    if (status === 'hit') this.hits += 1
    else if (status === 'miss') this.misses += 1
    else this.bypasses += 1
    if (savedNanoDollars !== null) this.savedNanoDollars += BigInt(Math.round(savedNanoDollars))
  }
}
