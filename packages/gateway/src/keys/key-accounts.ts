import type { SpendingBudget } from '../pipeline/context/spending.ts'
import type { SpendAccounts } from '../spending/spend-accounts.ts'
import { SpendLimit } from '../spending/spend-limit.ts'
import type { Period } from '../state/calendar.ts'
import type { KeyLimit } from '../stores/key-store.ts'
import { budgetsOf } from './key-budgets.ts'
import type { ReadyKey, Spender } from './stored-keys.ts'

/** One limit of a key or a team. */
export interface LimitShare {
  readonly limit: SpendLimit
  readonly slot: number
}

/** The limits and budgets of a key and of its teams, the innermost first. */
export interface KeyAccounts {
  readonly limits: readonly LimitShare[]
  readonly budgets: readonly SpendingBudget[]
  /** The name of a limit for which the table has no room; null when there is room for all. */
  readonly withoutRoom: string | null
}

/** The accounts of a key. `table` is that of limits, `room` the number of budgets that have room. */
export function accountsOf({ spenders }: ReadyKey, table: SpendAccounts, room: number): KeyAccounts {
  const limits: LimitShare[] = []
  let withoutRoom: string | null = null
  for (const spender of spenders) {
    for (const config of spender.limits ?? []) {
      const limit = limitOf(spender, config, table)
      const slot = limit.slot(`${spender.id}/${limit.unit}/${config.unit ?? DEFAULT_UNIT}`)
      if (slot === null) withoutRoom ??= limit.name
      else limits.push({ limit, slot })
    }
  }
  return { limits, budgets: spenders.flatMap((spender) => budgetsOf(spender, room)), withoutRoom }
}

function limitOf({ title }: Spender, config: KeyLimit, accounts: SpendAccounts): SpendLimit {
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
