/** The answer of `/api/usage`. */
export interface UsageReport {
  /** The fields that the sums are grouped by. */
  readonly by: readonly string[]
  /** The range of time in milliseconds since 1970; `until` is the first millisecond after it. */
  readonly since: number
  readonly until: number
  /** The most expensive group first. */
  readonly groups: readonly UsageGroup[]
  /** Whether the cheapest groups are left out, because there are too many. */
  readonly isCut: boolean
}

/** The sums of the calls with the same values in the fields of `by`. */
export interface UsageGroup {
  /** The values by field. */
  readonly group: Readonly<Record<string, string>>
  readonly calls: number
  /** Calls whose cost is unknown; `costUsd` does not contain them. */
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
  /** The exact sum of known costs, such as `12.000000001`; null when no cost of the group is known. */
  readonly costUsd: string | null
  /** The exact sum of what the response cache saved, as far as it is known. */
  readonly savedUsd: string
}
