import type { BudgetShare } from '../spending/claim.ts'
import type { SpendAccounts } from '../spending/spend-accounts.ts'
import { SpendLimit } from '../spending/spend-limit.ts'
import { createCalendar, type Period } from '../state/calendar.ts'
import type { KeyBudget, KeyLimit } from '../stores/key-store.ts'
import type { ReadyKey, Spender } from './stored-keys.ts'

type LimitUnit = 'requests' | 'tokens' | 'calls'

/** One limit of a key or a team. */
export interface LimitShare {
  readonly limit: SpendLimit<LimitUnit>
  readonly slot: number
}

/** The limits and budgets of a key and of its teams, the innermost first. */
export interface KeyAccounts {
  readonly limits: readonly LimitShare[]
  readonly budgets: readonly BudgetShare[]
  /** The name of a limit or a budget for which the table has no room; null when there is room for all. */
  readonly withoutRoom: string | null
}

/** The tables of limits and of budgets. Only budgets survive a restart. */
export interface KeyTables {
  readonly limits: SpendAccounts
  readonly budgets: SpendAccounts
}

export function accountsOf({ spenders }: ReadyKey, tables: KeyTables): KeyAccounts {
  const limits: LimitShare[] = []
  const budgets: BudgetShare[] = []
  let withoutRoom: string | null = null
  for (const spender of spenders) {
    for (const config of spender.limits ?? []) {
      const limit = limitOf(spender, config, tables.limits)
      const slot = limit.slot(`${spender.id}/${limit.unit}/${config.unit ?? DEFAULT_UNIT}`)
      if (slot === null) withoutRoom ??= limit.name
      else limits.push({ limit, slot })
    }
    for (const config of spender.budgets ?? []) {
      const limit = budgetOf(spender, config, tables.budgets)
      const slot = limit.slot(budgetAccount(spender, config))
      if (slot === null) withoutRoom ??= limit.name
      else budgets.push({ limit, slot })
    }
  }
  return { limits, budgets, withoutRoom }
}

/** The name of the account of a budget. A change of the amount keeps what was spent. */
export function budgetAccount({ id }: Pick<Spender, 'id'>, { usd, per, timeZone }: KeyBudget): string {
  return `${id}/${usd === undefined ? 'tokens' : 'usd'}/${per}/${timeZone ?? 'UTC'}`
}

export function budgetOf({ title }: Pick<Spender, 'title'>, config: KeyBudget, accounts: SpendAccounts): SpendLimit {
  const { usd, tokens = 0, per, timeZone = 'UTC' } = config
  const numbers =
    usd === undefined
      ? ({ unit: 'tokens', amount: tokens } as const)
      : ({ unit: 'usd', amount: Math.round(usd * 1e9) } as const)
  return new SpendLimit({ name: title, ...numbers, periodAt: createCalendar(per, timeZone) }, accounts)
}

function limitOf({ title }: Spender, config: KeyLimit, accounts: SpendAccounts): SpendLimit<LimitUnit> {
  const { requests, tokens, calls, unit = DEFAULT_UNIT } = config
  if (calls !== undefined) {
    const numbers = { unit: 'calls', amount: calls, periodAt: () => ALWAYS } as const
    return new SpendLimit({ name: `${title} (${calls} calls at once)`, ...numbers }, accounts)
  }
  const counted = requests === undefined ? 'tokens' : 'requests'
  const amount = requests ?? tokens ?? 0
  const name = `${title} (${amount.toLocaleString('en-US')} ${counted} per ${WORDS[unit]})`
  return new SpendLimit({ name, unit: counted, amount, periodAt: windows(WINDOWS[unit]) }, accounts)
}

function windows(lengthMs: number): (now: number) => Period {
  return (now) => {
    const number = Math.floor(now / lengthMs)
    return { number, start: number * lengthMs, end: (number + 1) * lengthMs }
  }
}

/** Calls at once are counted in one period without an end. */
const ALWAYS: Period = { number: 1, start: -Infinity, end: Infinity }
const DEFAULT_UNIT = 'Minutes'
const WINDOWS = { Seconds: 1_000, Minutes: 60_000, Hours: 3_600_000 } as const
const WORDS = { Seconds: 'second', Minutes: 'minute', Hours: 'hour' } as const
