import type { SpendingBudget } from '../pipeline/context/spending.ts'
import { countedPeriod, periodId } from '../state/budget-period.ts'
import type { BudgetRoom } from '../stores/budgets/budget-store.ts'
import type { KeyBudget } from '../stores/key-store.ts'
import type { Spender } from './ready-key.ts'

/** The budgets of all keys and teams are one budget with many keys, so that they share one table. */
function calendarRoom(entries: number): BudgetRoom {
  return { id: 'keys/budget/store', maxKeys: entries, partMs: null }
}

/** Returns the size of the table for budgets with a rolling period, which need 400 bytes each. */
function rollingRoom(entries: number, partMs = 1): BudgetRoom & { readonly partMs: number } {
  return { id: 'keys/budget/rolling', maxKeys: Math.min(entries, MOST_ROLLING), partMs }
}

/** Returns the sizes of the tables that the budgets of keys and teams need. */
export function budgetRooms(entries: number): BudgetRoom[] {
  return [calendarRoom(entries), rollingRoom(entries)]
}

/** The budgets of a key or a team. */
export function budgetsOf(spender: Pick<Spender, 'id' | 'title' | 'budgets'>, entries: number): SpendingBudget[] {
  return (spender.budgets ?? []).map((config) => budgetOf(spender, config, entries))
}

function budgetOf({ id, title }: Pick<Spender, 'id' | 'title'>, config: KeyBudget, entries: number): SpendingBudget {
  const { usd, tokens = 0 } = config
  const unit = usd === undefined ? 'tokens' : 'usd'
  const amount = usd === undefined ? tokens : Math.round(usd * 1e9)
  const { periodAt, partMs } = countedPeriod(config)
  const room = partMs === null ? calendarRoom(entries) : rollingRoom(entries, partMs)
  // The number of keys and teams is bounded already.
  const budget = { ...room, amount, isKeyed: false, periodAt }
  // A change of the amount keeps what was spent.
  return { name: title, unit, share: { budget, key: `${id}/${unit}/${periodId(config)}` } }
}

/** The largest number of rolling budgets of keys and teams. */
const MOST_ROLLING = 10_000
