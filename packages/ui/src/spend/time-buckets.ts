import type { UsageGroup } from '@portico/gateway/admin-api'
import { readNanoDollars, type Spending } from './money.ts'
import type { Measure, SpendRange } from './search.ts'

/** The calls of one hour or day of UTC. */
export interface TimeBucket extends Spending {
  /** Milliseconds since 1970. */
  readonly start: number
  readonly tokens: number
}

export const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** The unit of the bars of a range. */
export function unitOf(range: SpendRange): 'hour' | 'day' {
  return range === '24h' ? 'hour' : 'day'
}

/** The start of the first bar of a range. The last bar is the current hour or day. */
export function sinceOf(range: SpendRange, now: number): number {
  if (range === '24h') return floorTo(HOUR, now) - 23 * HOUR
  return floorTo(DAY, now) - (Number.parseInt(range, 10) - 1) * DAY
}

/** The groups of `by=day` or `by=hour` in the order of time, and an empty bucket for each time without calls. */
export function bucketsOf(
  groups: readonly UsageGroup[],
  unit: 'hour' | 'day',
  since: number,
  until: number,
): TimeBucket[] {
  const step = unit === 'hour' ? HOUR : DAY
  const known = new Map(groups.map((group) => [Date.parse(group.group[unit] ?? ''), group]))
  const buckets: TimeBucket[] = []
  for (let start = floorTo(step, since); start < until && buckets.length < MOST_BUCKETS; start += step) {
    const group = known.get(start)
    buckets.push(
      group === undefined ? { ...NO_CALLS, start } : { ...spendingOf(group), start, tokens: tokensOf(group) },
    )
  }
  return buckets
}

export function spendingOf({ calls, unpricedCalls, estimatedCalls, costUsd }: UsageGroup): Spending {
  const nanoDollars = costUsd === null ? null : readNanoDollars(costUsd)
  return { calls, unpricedCalls, estimatedCalls, nanoDollars }
}

/** Tokens of prompts and responses; those of caches and of reasoning are among them. */
export function tokensOf({ inputTokens, outputTokens }: UsageGroup): number {
  return inputTokens + outputTokens
}

/** The height of a bar; null when calls were made and no cost is known. */
export function heightOf({ nanoDollars, calls, tokens }: TimeBucket, show: Measure): number | null {
  if (show === 'calls') return calls
  if (show === 'tokens') return tokens
  if (nanoDollars !== null) return Number(nanoDollars)
  return calls === 0 ? 0 : null
}

/** The time of a bucket in UTC. */
export function printTime(start: number, unit: 'hour' | 'day'): string {
  const text = new Date(start).toISOString()
  return unit === 'day' ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 16)}`
}

export function floorTo(step: number, at: number): number {
  return at - (at % step)
}

const NO_CALLS = { calls: 0, unpricedCalls: 0, estimatedCalls: 0, tokens: 0, nanoDollars: null }
/** More than the hours of a month and the days of a year. */
const MOST_BUCKETS = 1_000
