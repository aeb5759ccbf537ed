import type { SpendAccounts } from '../spending/spend-accounts.ts'
import { groupedText } from '../spending/amount-text.ts'
import { SpendLimit } from '../spending/spend-limit.ts'
import type { Period } from '../state/calendar.ts'
import type { KeyLimit } from '../stores/key-store.ts'
import { budgetsOf } from './key-budgets.ts'
import type { KeyAccounts, LimitShare, ReadyKey, Spender } from './ready-key.ts'

/**
 * Returns the accounts of a key's limits and budgets. `table` holds the limits; `room` is the number of budgets that
 * the tables have room for.
 */
export function accountsOf(key: ReadyKey, table: SpendAccounts, room: number): KeyAccounts {
  if (key.accounts?.table !== table) key.accounts = findAccounts(key, table, room)
  return key.accounts
}

function findAccounts({ spenders }: ReadyKey, table: SpendAccounts, room: number): KeyAccounts {
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
  return { table, limits, budgets: spenders.flatMap((spender) => budgetsOf(spender, room)), withoutRoom }
}

function limitOf({ title }: Spender, config: KeyLimit, accounts: SpendAccounts): SpendLimit {
  const { requests, tokens, calls, unit = DEFAULT_UNIT } = config
  if (calls !== undefined) {
    const numbers = { unit: 'calls', amount: calls, periodAt: () => ALWAYS } as const
    return new SpendLimit({ name: () => `${title} (${calls} calls at once)`, ...numbers }, accounts)
  }
  const counted = requests === undefined ? 'tokens' : 'requests'
  const amount = requests ?? tokens ?? 0
  const name = (): string => `${title} (${groupedText(amount)} ${counted} per ${WORDS[unit]})`
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
