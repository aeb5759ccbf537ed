import { createCalendar, type Period, type PeriodUnit } from './calendar.ts'

/** The period of a budget, in the form of configs and keys. */
interface BudgetPeriod {
  readonly per: 'Hour' | 'Day' | 'Week' | 'Month' | 'Lifetime'
  /** Whether the period is the last hour, day, 7 or 30 days instead of a period of the calendar. */
  readonly rolling?: boolean | undefined
  readonly timeZone?: string | undefined
}

/** The period of a budget, in the form that stores count by. */
export interface CountedPeriod {
  /** Returns the calendar period that contains a time, in milliseconds since 1970. */
  readonly periodAt: (now: number) => Period
  /** The length of one part of a rolling period, in milliseconds; null for other periods. */
  readonly partMs: number | null
}

/** The number of parts in a rolling period. An amount counts until its whole part is outside the period. */
export const PARTS = 24

/** The end of the `Lifetime` period: the latest time that dates and Redis can both express. */
export const NEVER = Date.UTC(9999, 11, 31)

export function countedPeriod({ per, rolling = false, timeZone = 'UTC' }: BudgetPeriod): CountedPeriod {
  if (per === 'Lifetime') return { periodAt: () => ENDLESS, partMs: null }
  if (rolling) return { periodAt: () => ENDLESS, partMs: (HOURS[per] * 3_600_000) / PARTS }
  return { periodAt: calendarOf(per, timeZone), partMs: null }
}

/**
 * Returns a calendar, which budgets share: the first search in a time zone takes half a millisecond, and each key may
 * have a budget.
 */
function calendarOf(unit: PeriodUnit, timeZone: string): (now: number) => Period {
  const name = `${unit}/${timeZone}`
  const known = calendars.get(name)
  if (known !== undefined) return known
  // Time zone names ignore case, so budgets may spell one time zone in many ways, and the number of calendars is limited.
  if (calendars.size >= MOST_CALENDARS) calendars.clear()
  const calendar = createCalendar(unit, timeZone)
  calendars.set(name, calendar)
  return calendar
}

const calendars = new Map<string, (now: number) => Period>()
const MOST_CALENDARS = 2_000

/** Returns the name of a period for the ids of budgets; a budget with another period starts from zero. */
export function periodId({ per, rolling = false, timeZone = 'UTC' }: BudgetPeriod): string {
  return per === 'Lifetime' ? per : rolling ? `rolling ${per}` : `${per}/${timeZone}`
}

/** Returns the time at which a part leaves its rolling period, in milliseconds since 1970. */
export function partEnd(part: number, partMs: number): number {
  return (part + PARTS + 1) * partMs
}

const HOURS = { Hour: 1, Day: 24, Week: 168, Month: 720 } as const
const ENDLESS: Period = { number: 1, start: 0, end: NEVER }
