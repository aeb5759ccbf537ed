import { dollarText } from '../spending/amount-text.ts'
import { NEVER } from '../state/budget-period.ts'
import type { BudgetStore } from '../stores/budgets/budget-store.ts'
import type { KeyBudget } from '../stores/key-store.ts'
import { budgetsOf } from './key-budgets.ts'
import type { Spender } from './ready-key.ts'

/** A budget with the amount that is spent. Amounts in US dollars are exact decimal texts. */
export interface BudgetUsage extends KeyBudget {
  /** The amount that is spent or reserved in the current period; null when the store of budgets does not answer. */
  readonly spent: string | number | null
  readonly left: string | number | null
  /**
   * The start of the next period; for a rolling period, the time at which more of the budget is free; null for
   * `Lifetime`.
   */
  readonly resetsAt: string | null
}

/** The budgets of a key or a team, with what is spent of them. `entries` is the room of the table of keys. */
export async function describeBudgets(
  spender: Pick<Spender, 'id' | 'budgets'>,
  store: BudgetStore,
  entries: number,
): Promise<BudgetUsage[]> {
  const budgets = budgetsOf({ title: '', ...spender }, entries)
  const balances = await store.balances(budgets.map(({ share }) => share))
  return (spender.budgets ?? []).flatMap((config, i) => {
    const budget = budgets[i]
    if (budget === undefined) return []
    const { unit, share } = budget
    const inUnit = (amount: number): string | number => (unit === 'tokens' ? amount : dollarText(amount))
    const { used = null, end = share.budget.periodAt(Date.now()).end } = balances?.[i] ?? {}
    const left = used === null ? null : inUnit(Math.max(0, share.budget.amount - used))
    const resetsAt = end >= NEVER ? null : new Date(end).toISOString()
    return [{ ...config, spent: used === null ? null : inUnit(used), left, resetsAt }]
  })
}
