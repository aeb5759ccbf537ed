import type { SpendAccounts } from '../spending/spend-accounts.ts'
import type { KeyBudget } from '../stores/key-store.ts'
import { budgetAccount, budgetOf } from './key-accounts.ts'
import type { Spender } from './stored-keys.ts'

/** A budget with the amount that is spent. Amounts in US dollars are exact decimal texts. */
interface BudgetUsage extends KeyBudget {
  /** The amount that is spent or reserved in the current period. */
  readonly spent: string | number
  readonly left: string | number
  /** The beginning of the next period. */
  readonly resetsAt: string
}

/** The budgets of a key or a team with what is spent of them. Leaves out budgets without an account. */
export function describeBudgets(spender: Spender, accounts: SpendAccounts): BudgetUsage[] {
  return (spender.budgets ?? []).flatMap((config) => {
    const limit = budgetOf(spender, config, accounts)
    const slot = limit.slot(budgetAccount(spender, config))
    if (slot === null) return []
    const inUnit = (amount: number): string | number => (limit.unit === 'tokens' ? amount : dollars(amount))
    const resetsAt = new Date(limit.period.end).toISOString()
    return [{ ...config, spent: inUnit(limit.used(slot)), left: inUnit(limit.left(slot)), resetsAt }]
  })
}

function dollars(nanoDollars: number): string {
  const [whole, fraction = ''] = (nanoDollars / 1e9).toFixed(9).split('.')
  return `${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`
}
