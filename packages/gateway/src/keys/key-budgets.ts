import type { SpendingBudget } from '../pipeline/context/spending.ts'
import { createCalendar } from '../state/calendar.ts'
import type { BudgetRoom } from '../stores/budgets/budget-store.ts'
import type { KeyBudget } from '../stores/key-store.ts'
import type { Spender } from './stored-keys.ts'

/** The budgets of all keys and teams are one budget with many keys, so that they share one table. */
export function budgetRoom(entries: number): BudgetRoom {
  return { id: 'keys/budget/store', maxKeys: entries }
}

/** The budgets of a key or a team. */
export function budgetsOf(spender: Pick<Spender, 'id' | 'title' | 'budgets'>, entries: number): SpendingBudget[] {
  return (spender.budgets ?? []).map((config) => budgetOf(spender, config, entries))
}

function budgetOf(
  { id, title }: Pick<Spender, 'id' | 'title'>,
  { usd, tokens = 0, per, timeZone = 'UTC' }: KeyBudget,
  entries: number,
): SpendingBudget {
  const unit = usd === undefined ? 'tokens' : 'usd'
  const amount = usd === undefined ? tokens : Math.round(usd * 1e9)
  // The number of keys and teams is bounded already.
  const budget = { ...budgetRoom(entries), amount, isKeyed: false, periodAt: createCalendar(per, timeZone) }
  // A change of the amount keeps what was spent.
  return { name: title, unit, share: { budget, key: `${id}/${unit}/${per}/${timeZone}` } }
}
