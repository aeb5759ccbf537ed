import type { Period } from './search.ts'
import { DAY, floorTo, HOUR, type TimeBucket } from './time-buckets.ts'

/** The expected cost of the current period of the calendar in UTC, in billionths of a dollar. */
export interface Forecast {
  /** First millisecond of the period, and of the next one. */
  readonly start: number
  readonly end: number
  /** Known costs since the start of the period. */
  readonly spent: bigint
  /** Calls since the start of the period whose cost is unknown; `spent` does not contain them. */
  readonly unpricedCalls: number
  /** Null when the calls are too recent for a rate. */
  readonly rate: Rate | null
  /** `spent`, and the rate for the rest of the period; null without a rate. */
  readonly expected: bigint | null
}

/** The known costs of the last days. */
interface Rate {
  readonly nanoDollars: bigint
  readonly millis: number
  readonly unpricedCalls: number
}

/** The first hour that a forecast reads. */
export function forecastSince(now: number): number {
  return floorTo(DAY, now) - LOOKBACK_DAYS * DAY
}

/** The forecast at `now`, from the hours since `forecastSince`, in the order of time. */
export function forecastOf(hours: readonly TimeBucket[], period: Period, now: number): Forecast {
  const { start, end } = boundsOf(period, now)
  const current = hours.filter((hour) => hour.start >= start)
  const spent = costOf(current)
  const unpricedCalls = unpricedIn(current)
  const rate = rateOf(hours, now)
  const rest = BigInt(Math.max(0, end - now))
  const expected = rate === null ? null : spent + (rate.nanoDollars * rest) / BigInt(rate.millis)
  return { start, end, spent, unpricedCalls, rate, expected }
}

/** The rate of the last seven days, or since the first call. */
function rateOf(hours: readonly TimeBucket[], now: number): Rate | null {
  const first = hours.find(({ calls }) => calls > 0)
  if (first === undefined) return null
  const since = Math.max(first.start, floorTo(HOUR, now) + HOUR - RATE_DAYS * DAY)
  const recent = hours.filter(({ start }) => start >= since)
  const millis = now - since
  if (millis < LEAST_RATE_MS) return null
  return { nanoDollars: costOf(recent), millis, unpricedCalls: unpricedIn(recent) }
}

/** The period of the calendar that `now` is in. Weeks begin on Monday. */
function boundsOf(period: Period, now: number): { start: number; end: number } {
  const date = new Date(now)
  if (period === 'month') {
    const month = (more: number): number => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + more, 1)
    return { start: month(0), end: month(1) }
  }
  const today = floorTo(DAY, now)
  if (period === 'day') return { start: today, end: today + DAY }
  const monday = today - ((date.getUTCDay() + 6) % 7) * DAY
  return { start: monday, end: monday + 7 * DAY }
}

function costOf(hours: readonly TimeBucket[]): bigint {
  return hours.reduce((sum, { nanoDollars }) => sum + (nanoDollars ?? 0n), 0n)
}

function unpricedIn(hours: readonly TimeBucket[]): number {
  return hours.reduce((sum, { unpricedCalls }) => sum + unpricedCalls, 0)
}

/** The longest month, and more than `RATE_DAYS`. */
const LOOKBACK_DAYS = 31
const RATE_DAYS = 7
/** A shorter time says little about the rest of a period. */
const LEAST_RATE_MS = DAY
