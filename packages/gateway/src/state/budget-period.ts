import { createCalendar, type Period, type PeriodUnit } from './calendar.ts'

/** The period of a budget, as configs and keys have it. */
interface BudgetPeriod {
  readonly per: 'Hour' | 'Day' | 'Week' | 'Month' | 'Lifetime'
  /** Counts the last hour, day, 7 or 30 days in place of a period of the calendar. */
  readonly rolling?: boolean | undefined
  readonly timeZone?: string | undefined
}

/** The period of a budget, as stores count it. */
export interface CountedPeriod {
  /** The period of a moment, in milliseconds since 1970. */
  readonly periodAt: (now: number) => Period
  /** The length of a part of a rolling period; null for other periods. */
  readonly partMs: number | null
}

/** A rolling period is counted in parts. Each part counts until all of it is outside the period. */
export const PARTS = 24

/** The end of a period that never ends, which dates and Redis can still express. */
export const NEVER = Date.UTC(9999, 11, 31)

export function countedPeriod({ per, rolling = false, timeZone = 'UTC' }: BudgetPeriod): CountedPeriod {
  if (per === 'Lifetime') return { periodAt: () => ENDLESS, partMs: null }
  if (rolling) return { periodAt: () => ENDLESS, partMs: (HOURS[per] * 3_600_000) / PARTS }
  return { periodAt: calendarOf(per, timeZone), partMs: null }
}

/** Budgets share calendars: the first search in a time zone takes half a millisecond, and each key may have a budget. */
function calendarOf(unit: PeriodUnit, timeZone: string): (now: number) => Period {
  const name = `${unit}/${timeZone}`
  const known = calendars.get(name)
  if (known !== undefined) return known
  // The case of names does not matter, so there are more spellings than time zones.
  if (calendars.size >= MOST_CALENDARS) calendars.clear()
  const calendar = createCalendar(unit, timeZone)
  calendars.set(name, calendar)
  return calendar
}

const calendars = new Map<string, (now: number) => Period>()
const MOST_CALENDARS = 2_000

/** Names a period in the ids of budgets: what was spent belongs to it. */
export function periodId({ per, rolling = false, timeZone = 'UTC' }: BudgetPeriod): string {
  return per === 'Lifetime' ? per : rolling ? `rolling ${per}` : `${per}/${timeZone}`
}

/** The moment at which the part leaves its period. */
export function partEnd(part: number, partMs: number): number {
  return (part + PARTS + 1) * partMs
}

const HOURS = { Hour: 1, Day: 24, Week: 168, Month: 720 } as const
const ENDLESS: Period = { number: 1, start: 0, end: NEVER }
