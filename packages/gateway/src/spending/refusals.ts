import type { SpendingBudget, SpendingRefusal } from '../pipeline/context/spending.ts'
import { NEVER } from '../state/budget-period.ts'
import type { BudgetDecision, ExceededBudget } from '../stores/budgets/budget-store.ts'
import { amountText } from './amount-text.ts'

/** The refusal of a request, by the decision of the store; null when there is room. */
export function spendingRefusal(decision: BudgetDecision, budgets: readonly SpendingBudget[]): SpendingRefusal | null {
  if (decision === null) return null
  if (decision.kind === 'unavailable') return UNAVAILABLE
  const budget = budgets[decision.index]
  if (budget === undefined) return UNAVAILABLE
  if (decision.kind === 'exceeded') return exceeded(budget, decision)
  const message = `budget exceeded: ${budget.name} has no room for another key`
  return { status: 429, code: 'budget_exceeded', message, retryAfter: null }
}

export function unpriced(model: string): SpendingRefusal {
  const message = `no price is known for the model ${model.slice(0, 256)}, and a budget needs one`
  return { status: 403, code: 'model_unpriced', message, retryAfter: null }
}

function exceeded({ name, unit, share }: SpendingBudget, { left, now, end }: ExceededBudget): SpendingRefusal {
  const rest = `${amountText(left, unit)} of ${amountText(share.budget.amount, unit)} left`
  if (end >= NEVER) {
    const message = `budget exceeded: ${name} has ${rest} and does not begin anew`
    return { status: 429, code: 'budget_exceeded', message, retryAfter: null }
  }
  const time = new Date(end).toISOString()
  const when = share.budget.partMs === null ? `begins anew at ${time}` : `has more at ${time}`
  const message = `budget exceeded: ${name} has ${rest} and ${when}`
  const retryAfter = Math.max(1, Math.ceil((end - now) / 1000))
  return { status: 429, code: 'budget_exceeded', message, retryAfter }
}

const UNAVAILABLE: SpendingRefusal = {
  status: 503,
  code: 'budget_unavailable',
  message: 'budget store unavailable',
  retryAfter: null,
}
