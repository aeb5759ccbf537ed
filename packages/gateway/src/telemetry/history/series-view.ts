/** What the admin API says of the last hours. Types alone: pages share them. */

export const RANGES = ['15m', '3h', '24h'] as const
export type HistoryRange = (typeof RANGES)[number]

/** Where prices of providers change with the length of a prompt, in tokens. */
export const PROMPT_SIZES = [0, 128_000, 200_000, 272_000, 512_000] as const

/** Answer of `GET /api/metrics/series`. All lists are as long as `times`, oldest first. */
export interface SeriesView {
  readonly range: HistoryRange
  /** Milliseconds since 1970. */
  readonly now: number
  /** Since when there are figures. */
  readonly since: number
  /** Ends of the steps, in milliseconds since 1970, and how many seconds each took. */
  readonly times: readonly number[]
  readonly seconds: readonly number[]
  readonly total: TrafficSeries
  /** Those with the most requests. */
  readonly routes: readonly TrafficSeries[]
  /** Those with the most tokens. */
  readonly models: readonly ModelSeries[]
  /** How many had traffic and are not listed; routes beyond the first 50 are counted as `other`, and so are models. */
  readonly omitted: { readonly routes: number; readonly models: number }
}

export interface TrafficSeries {
  /** Name of the route; empty for all of them. */
  readonly name: string
  readonly requests: readonly number[]
  /** Answered with 500 or above, or not at all. */
  readonly failed: readonly number[]
  /** Answered with 400 to 499 by the gateway itself. */
  readonly refused: readonly number[]
  /** Seconds, from the buckets of the histogram; null where there was nothing. */
  readonly p50: readonly (number | null)[]
  readonly p95: readonly (number | null)[]
  readonly p99: readonly (number | null)[]
}

export interface ModelSeries {
  /** As telemetry names it: `openai`. */
  readonly provider: string
  /** That answered; the one that was asked for, where nobody said. */
  readonly model: string
  readonly calls: readonly number[]
  /** Tokens. Those of the cache are among the input too. */
  readonly input: readonly number[]
  readonly output: readonly number[]
  readonly cacheRead: readonly number[]
  readonly cacheWrite: readonly number[]
  /** Seconds. */
  readonly p95: readonly (number | null)[]
}

/** Sums over calls of models. */
export interface UsageSums {
  readonly calls: number
  /** Tokens. Those of the cache are among the input too, those of reasoning among the output. */
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
}

/** One line of who used what. */
export interface UsageRow extends UsageSums {
  /** As telemetry names it: `openai`. */
  readonly provider: string
  /** Of the config: key of the backend, and what it calls the provider. */
  readonly backend: string | null
  readonly providerName: string
  readonly model: string
  readonly route: string | null
  readonly key: string | null
  /** Calls whose provider did not report all of it: the gateway counted some of their tokens. */
  readonly estimatedCalls: number
  /** Calls that were answered without a word about tokens: they are in no sum of tokens. */
  readonly silentCalls: number
  /** The same by the size of the prompt, as long ones have prices of their own; sizes without calls are left out. */
  readonly sizes: readonly SizedUsage[]
}

/** Calls with more input tokens than `over`, and at most as many as the next of the `PROMPT_SIZES`. */
export interface SizedUsage extends UsageSums {
  readonly over: number
}

/** Answer of `GET /api/metrics/usage`. */
export interface UsageView {
  readonly range: HistoryRange
  readonly now: number
  /** From here on every request is counted: older ones may have lost their place in the recorder. */
  readonly completeSince: number
  /** The most tokens first. */
  readonly rows: readonly UsageRow[]
  /** Rows that are left out. */
  readonly omitted: number
}
