/** The types of the admin API for the history; the web UI imports them. */

export const RANGES = ['15m', '3h', '24h'] as const
export type HistoryRange = (typeof RANGES)[number]

/** Prompt lengths in tokens at which providers change their prices. */
export const PROMPT_SIZES = [0, 128_000, 200_000, 272_000, 512_000] as const

/** The response of `GET /api/metrics/series`. All lists are as long as `times`, oldest first. */
export interface SeriesView {
  readonly range: HistoryRange
  /** Milliseconds since 1970. */
  readonly now: number
  /** The start of the history. */
  readonly since: number
  /** Ends of the steps in milliseconds since 1970; `seconds` has their lengths. */
  readonly times: readonly number[]
  readonly seconds: readonly number[]
  readonly total: TrafficSeries
  /** The routes with the most requests. */
  readonly routes: readonly TrafficSeries[]
  /** The models with the most tokens. */
  readonly models: readonly ModelSeries[]
  /** The number of unlisted routes and models with traffic; beyond the first 50 they are counted as `other`. */
  readonly omitted: { readonly routes: number; readonly models: number }
}

export interface TrafficSeries {
  /** Name of the route; empty for all of them. */
  readonly name: string
  readonly requests: readonly number[]
  /** Requests with a status of 500 or above, or without a response. */
  readonly failed: readonly number[]
  /** Requests to which the gateway itself responded with 400 to 499. */
  readonly refused: readonly number[]
  /** Seconds, from the buckets of the histogram; null for steps without requests. */
  readonly p50: readonly (number | null)[]
  readonly p95: readonly (number | null)[]
  readonly p99: readonly (number | null)[]
}

export interface ModelSeries {
  /** The provider as telemetry names it, such as `openai`. */
  readonly provider: string
  /** The model that responded; the requested model if the response named none. */
  readonly model: string
  readonly calls: readonly number[]
  /** Tokens; `input` includes the cached tokens. */
  readonly input: readonly number[]
  readonly output: readonly number[]
  readonly cacheRead: readonly number[]
  readonly cacheWrite: readonly number[]
  /** Seconds. */
  readonly p95: readonly (number | null)[]
}

/** Sums over model calls. */
export interface UsageSums {
  readonly calls: number
  /** Tokens; `input` includes cached tokens, and `output` includes reasoning tokens. */
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
}

/** The usage of one model by one client on one route. */
export interface UsageRow extends UsageSums {
  /** The provider as telemetry names it, such as `openai`. */
  readonly provider: string
  /** The key of the backend in the config; `providerName` is the name of the provider there. */
  readonly backend: string | null
  readonly providerName: string
  readonly model: string
  readonly route: string | null
  readonly key: string | null
  /** Calls with partly estimated tokens, because the provider did not report all of them. */
  readonly estimatedCalls: number
  /** Calls without any token counts; no sum of tokens includes them. */
  readonly silentCalls: number
  /** The same sums by prompt length, because prices depend on it; lengths without calls are left out. */
  readonly sizes: readonly SizedUsage[]
}

/** Calls with more input tokens than `over`, and at most as many as the next of the `PROMPT_SIZES`. */
export interface SizedUsage extends UsageSums {
  readonly over: number
}

/** The response of `GET /api/metrics/usage`. */
export interface UsageView {
  readonly range: HistoryRange
  readonly now: number
  /** Every request since this time is counted; the recorder may have overwritten older requests. */
  readonly completeSince: number
  /** Rows with the most tokens first. */
  readonly rows: readonly UsageRow[]
  /** The number of rows left out. */
  readonly omitted: number
}
