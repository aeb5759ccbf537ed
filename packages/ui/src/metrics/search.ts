import type { HistoryRange } from '@portico/gateway/admin-api'
import { USAGE_GROUPS, type UsageGroup } from './usage-lines.ts'

export const RANGES: readonly HistoryRange[] = ['15m', '3h', '24h']

/** The state of the page, as its address holds it. The default range is the shortest. */
interface MetricsSearch {
  range?: HistoryRange
  /** The field that usage is grouped by. */
  by?: UsageGroup
}

/** Anyone can write an address: invalid values are dropped. */
export function readMetricsSearch({ range, by }: Record<string, unknown>): MetricsSearch {
  const known = RANGES.find((each) => each === range)
  const group = USAGE_GROUPS.find((each) => each === by)
  return {
    ...(known !== undefined && known !== RANGES[0] && { range: known }),
    ...(group !== undefined && { by: group }),
  }
}

export const RANGE_NAMES: Readonly<Record<HistoryRange, string>> = {
  '15m': '15 minutes',
  '3h': '3 hours',
  '24h': '24 hours',
}

const MINUTE = 60_000
export const RANGE_MILLIS: Readonly<Record<HistoryRange, number>> = {
  '15m': 15 * MINUTE,
  '3h': 180 * MINUTE,
  '24h': 1440 * MINUTE,
}
