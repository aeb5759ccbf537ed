/** The length of a budget's period. Weeks begin on Monday. */
export type PeriodUnit = 'Hour' | 'Day' | 'Week' | 'Month'

/** A period of the calendar. */
export interface Period {
  /** Counts up by one from period to period. */
  readonly number: number
  /** Milliseconds since 1970 at which the period begins. */
  readonly start: number
  /** Milliseconds since 1970 at which the next period begins. */
  readonly end: number
}

/** Returns the function that finds the period of a moment, in a time zone of the IANA database. */
export function createCalendar(unit: PeriodUnit, timeZone: string): (now: number) => Period {
  const localDay = createLocalDay(timeZone)
  let known: Period = { number: 0, start: Infinity, end: -Infinity }
  return (now) => {
    if (now < known.start || now >= known.end) known = find(now)
    return known
  }

  function find(now: number): Period {
    if (unit === 'Hour') {
      const number = Math.floor(now / HOUR)
      return { number, start: number * HOUR, end: (number + 1) * HOUR }
    }
    const today = localDay(now)
    const [first, next, number] = daysOf(unit, today)
    return { number, start: startOfDay(first, localDay), end: startOfDay(next, localDay) }
  }
}

/** The first day of the period, that of the next one, and the number of the period. Days count from 1970-01-01. */
function daysOf(unit: Exclude<PeriodUnit, 'Hour'>, today: number): [first: number, next: number, number: number] {
  if (unit === 'Day') return [today, today + 1, today]
  if (unit === 'Week') {
    // 1970-01-01 was a Thursday.
    const week = Math.floor((today + 3) / 7)
    return [week * 7 - 3, week * 7 + 4, week]
  }
  const date = new Date(today * DAY)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return [Date.UTC(year, month) / DAY, Date.UTC(year, month + 1) / DAY, year * 12 + month]
}

/** The first moment of a local day, by bisection: the offset of the time zone may change at any moment of it. */
function startOfDay(day: number, localDay: (moment: number) => number): number {
  let [before, after] = [day * DAY - 36 * HOUR, day * DAY + 36 * HOUR]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (localDay(middle) >= day) after = middle
    else before = middle
  }
  return after
}

/** Returns the function that finds the local date of a moment, in days since 1970-01-01. */
function createLocalDay(timeZone: string): (moment: number) => number {
  if (timeZone === 'UTC') return (moment) => Math.floor(moment / DAY)
  const format = new Intl.DateTimeFormat('en-US', { timeZone, year: 'numeric', month: 'numeric', day: 'numeric' })
  return (moment) => {
    const parts = new Map(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]))
    return Date.UTC(parts.get('year') ?? 0, (parts.get('month') ?? 1) - 1, parts.get('day') ?? 1) / DAY
  }
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
