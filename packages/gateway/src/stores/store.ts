/** One model call in the ledger. The store keeps each id once, so an entry may be delivered several times. */
export interface LedgerEntry {
  /** The id of the request; the record of the request has the same id. */
  readonly id: string
  /** Start of the request in milliseconds since 1970. */
  readonly at: number
  /** The id that client, backend and logs share; empty without one. */
  readonly requestId: string
  /** The name of the API key, the user or the subject of the token; empty for an unknown client. */
  readonly key: string
  /** `team` in the metadata of the API key; empty without one. */
  readonly team: string
  readonly route: string
  /** The model that the client asked for. */
  readonly requestedModel: string
  /** The model that served the call: as the provider reports it, otherwise as the provider was asked. */
  readonly model: string
  /** The vendor's name in telemetry. */
  readonly provider: string
  readonly operation: string
  /** HTTP status of the response; 0 when there was none. */
  readonly status: number
  /** Tokens by class; null when the provider reported none. */
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly cacheReadTokens: number | null
  readonly cacheWriteTokens: number | null
  readonly reasoningTokens: number | null
  /** Billionths of a US dollar; null when the cost is unknown. */
  readonly nanoDollars: number | null
  /** Whether the cost is computed from reported tokens, estimated, or unknown. */
  readonly basis: 'computed' | 'estimated' | 'unknown'
  /** The row and the table of prices; or, when the cost is unknown, the reason. */
  readonly provenance: string
  /** Milliseconds to the first token of a streamed response; null for other responses. */
  readonly firstTokenMs: number | null
  readonly totalMs: number
  /** The number of calls to providers, failed ones included. */
  readonly attempts: number
  /** The outcome of the response cache: `hit`, `miss`, `bypass`; empty without a cache. */
  readonly cache: string
  /** Billionths of a US dollar that the answer would have cost without the cache; null when nothing is known. */
  readonly savedNanoDollars: number | null
}

/** The fields that usage can be grouped by. Days and hours are those of UTC. */
export const USAGE_GROUPS: readonly string[] = [
  ...[
    'day',
    'hour',
    'key',
    'team',
    'route',
    'model',
    'requestedModel',
    'provider',
    'operation',
    'status',
    'basis',
    'cache',
  ],
]

/**
 * The range of a query is exact while its entries are stored. Once entries are removed, their hour counts as a whole, if
 * the range has the start of the hour.
 */
export interface UsageQuery {
  /** Names of `USAGE_GROUPS`, each once; empty for one sum of everything. */
  readonly by: readonly string[]
  /** First millisecond of the range. */
  readonly since: number
  /** First millisecond after the range. */
  readonly until: number
}

/** The sums of one group. */
export interface UsageSums {
  /** The values of the fields of `by`, in their order. */
  readonly group: readonly string[]
  readonly calls: number
  /** Calls whose cost is unknown; `nanoDollars` does not contain them. */
  readonly unpricedCalls: number
  /** Calls whose cost is estimated. */
  readonly estimatedCalls: number
  /** Calls that were answered from the response cache. */
  readonly cachedCalls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly reasoningTokens: number
  /** The sum of all known costs; null when no cost of the group is known. */
  readonly nanoDollars: bigint | null
  /** The sum of what the response cache saved, as far as it is known; 0 when it saved nothing. */
  readonly savedNanoDollars: bigint
}

/** The groups of a query, the most expensive first. */
export interface UsageResult {
  readonly sums: readonly UsageSums[]
  /** Whether there are more than `MOST_GROUPS` groups; the cheapest ones are left out. */
  readonly isCut: boolean
}

export const MOST_GROUPS = 10_000

/** The contract of all stores. Adapters may be synchronous; every method throws when the store cannot be used. */
export interface LedgerStore {
  /** Adds all entries or none. An entry whose id is stored already stays as it is. Returns the number of new entries. */
  add(entries: readonly LedgerEntry[]): number | Promise<number>
  usage(query: UsageQuery): UsageResult | Promise<UsageResult>
  /** Removes up to `most` entries that are older than `at`; returns their number. The sums of their hours stay. */
  removeBefore(at: number, most: number): number | Promise<number>
  /** Removes up to `most` sums of hours that ended before `at`; returns their number. */
  removeSumsBefore(at: number, most: number): number | Promise<number>
  close(): void | Promise<void>
}
