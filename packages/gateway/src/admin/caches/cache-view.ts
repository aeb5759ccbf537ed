/** The types of the admin API for response caches. */

/** How full a shared cache is in Redis. */
export interface SharedCacheView {
  /** Null when there are too many tenants to count. Purged answers count until they end. */
  readonly entries: number | null
  readonly tenants: number
  readonly bytes: number
}

/** The response cache of one policy, with the sums of all workers. */
export interface CacheView {
  /** The place of the policy in the config. */
  readonly name: string
  readonly entries: number
  readonly bytes: number
  /** The most bytes of all workers together. */
  readonly maxBytes: number
  /** Calls since the workers started, by outcome. */
  readonly hits: number
  readonly misses: number
  readonly bypasses: number
  /** Known costs of the calls that hits replaced, as an exact decimal number. */
  readonly savedUsd: string
  readonly isShared: boolean
  /** Null when the cache is not shared, or Redis does not answer. */
  readonly shared: SharedCacheView | null
}

/** The response of `GET /api/cache`. */
export interface CacheListView {
  readonly caches: readonly CacheView[]
  /** Workers that were too busy to answer; the sums lack their figures. */
  readonly silentWorkers: number
}

/** The response of `POST /api/cache/purge`. */
export interface CachePurgeView {
  /** Answers that were removed from the memory of workers. */
  readonly purged: number
  /** Whether answers in Redis were purged, too; false without a shared cache. */
  readonly isSharedPurged: boolean
}
