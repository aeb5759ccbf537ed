/** The directives of a request's `cache-control` header that the cache follows. */
export interface CacheControl {
  /** Neither serves a stored answer nor stores a new one. */
  readonly noStore: boolean
  /** Asks the provider, and stores its answer. */
  readonly noCache: boolean
  /** The greatest age of a stored answer, in milliseconds. */
  readonly maxAgeMs: number
}

/** Reads `no-store`, `no-cache` and `max-age`; other directives, and an age that is not a number, do not count. */
export function readCacheControl(header: string | null): CacheControl {
  if (header === null) return NO_DIRECTIVES
  const directives = header.split(',').map((directive) => directive.trim().toLowerCase())
  const ages = directives.map((directive) => /^max-age\s*=\s*"?(\d{1,10})"?$/.exec(directive)?.[1])
  const seconds = ages.filter((age) => age !== undefined).map(Number)
  return {
    noStore: directives.includes('no-store'),
    noCache: directives.includes('no-cache'),
    maxAgeMs: Math.min(Infinity, ...seconds.map((age) => age * 1000)),
  }
}

const NO_DIRECTIVES: CacheControl = { noStore: false, noCache: false, maxAgeMs: Infinity }
