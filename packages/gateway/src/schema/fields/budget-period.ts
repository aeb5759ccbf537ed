import { otherRule } from '../rules.ts'

/** The lengths of a budget's period, as configs name them. */
export const BUDGET_PERIODS = ['Hour', 'Day', 'Week', 'Month', 'Lifetime'] as const

/** Only a period of the calendar has a time zone, and a `Lifetime` period cannot roll. */
export const periodHasCalendar = otherRule(
  '`rolling` goes without `timeZone`, and `per: Lifetime` without both',
  "!(has(self.rolling) && self.rolling && (has(self.timeZone) || self.per == 'Lifetime')) && !(has(self.timeZone) && self.per == 'Lifetime')",
  ({ per, rolling, timeZone }) =>
    !(rolling === true && (timeZone !== undefined || per === 'Lifetime')) &&
    !(timeZone !== undefined && per === 'Lifetime'),
)
