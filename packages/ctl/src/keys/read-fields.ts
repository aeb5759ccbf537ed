import type { KeyBudgetView, KeyLimitView } from '@portico/gateway/admin-api'
import { momentOf } from './moment.ts'

/** The flags of a key or a team, as they were given. */
export interface FieldFlags {
  readonly team: string | null
  readonly parent: string | null
  readonly owner: string | null
  readonly models: string | null
  readonly routes: string | null
  readonly budgets: string | null
  readonly limits: string | null
  readonly expires: string | null
  readonly clear: string | null
}

/** The fields for the admin API; throws a `FieldProblem` for a flag that is not as expected. */
export function readFields(flags: FieldFlags, now: number): Readonly<Record<string, unknown>> {
  const { team, parent, owner, models, routes, budgets, limits, expires, clear } = flags
  return {
    ...(team !== null && { team }),
    ...(parent !== null && { parent }),
    ...(owner !== null && { owner }),
    ...(models !== null && { models: listOf(models) }),
    ...(routes !== null && { routes: listOf(routes) }),
    ...(budgets !== null && { budgets: listOf(budgets).map(readBudget) }),
    ...(limits !== null && { limits: listOf(limits).map(readLimit) }),
    ...(expires !== null && { expires: readExpiry(expires, now) }),
    ...(clear !== null && Object.fromEntries(listOf(clear).map((name) => [name, null]))),
  }
}

/** A flag that is not as expected, for the person who runs the command. */
export class FieldProblem extends Error {}

function readBudget(text: string): Omit<KeyBudgetView, 'spent'> {
  const [, amount, unit, per] =
    /^(\d+(?:\.\d+)?)(usd|tokens)\/((?:rolling-)?(?:hour|day|week|month)|lifetime)$/.exec(text) ?? []
  const isRolling = per?.startsWith('rolling-') === true
  const period = PERIODS.get(isRolling ? per.slice('rolling-'.length) : (per ?? ''))
  if (unit === undefined || period === undefined) {
    throw new FieldProblem(
      `found the budget ${text}, expected 5usd/day, 5usd/rolling-day, 100usd/lifetime or 1000000tokens/month`,
    )
  }
  return { [unit]: Number(amount), per: period, ...(isRolling && { rolling: true }) }
}

function readLimit(text: string): KeyLimitView {
  const [, calls] = /^(\d+)calls$/.exec(text) ?? []
  if (calls !== undefined) return { calls: Number(calls) }
  const [, amount, counted, window] = /^(\d+)(requests|tokens)\/(second|minute|hour)$/.exec(text) ?? []
  const unit = WINDOWS.get(window ?? '')
  if (counted === undefined || unit === undefined) {
    throw new FieldProblem(`found the limit ${text}, expected 60requests/minute, 100000tokens/hour or 4calls`)
  }
  return { [counted]: Number(amount), unit }
}

function readExpiry(text: string, now: number): string {
  const moment = momentOf(text, now)
  if (Number.isNaN(moment)) throw new FieldProblem(`found the time ${text}, expected 90d, 24h, 30m, 10s or RFC 3339`)
  return new Date(moment).toISOString()
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

const PERIODS: ReadonlyMap<string, KeyBudgetView['per']> = new Map([
  ['hour', 'Hour'],
  ['day', 'Day'],
  ['week', 'Week'],
  ['month', 'Month'],
  ['lifetime', 'Lifetime'],
])
const WINDOWS: ReadonlyMap<string, 'Seconds' | 'Minutes' | 'Hours'> = new Map([
  ['second', 'Seconds'],
  ['minute', 'Minutes'],
  ['hour', 'Hours'],
])
