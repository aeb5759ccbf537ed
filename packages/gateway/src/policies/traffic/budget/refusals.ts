import type { SpendingRefusal } from '../../../pipeline/context/spending.ts'
import type { BudgetDecision, ExceededBudget } from '../../../stores/budgets/budget-store.ts'
import type { BudgetLimit } from './limit.ts'

/** The refusal of a request, by the decision of the store; null when there is room. */
export function spendingRefusal(decision: BudgetDecision, limits: readonly BudgetLimit[]): SpendingRefusal | null {
  if (decision === null) return null
  if (decision.kind === 'unavailable') return UNAVAILABLE
  const limit = limits[decision.index]
  if (limit === undefined) return UNAVAILABLE
  if (decision.kind === 'exceeded') return exceeded(limit, decision)
  const message = `budget exceeded: ${limit.name} has no room for another key`
  return { status: 429, code: 'budget_exceeded', message, retryAfter: null }
}

export function unpriced(model: string): SpendingRefusal {
  const message = `no price is known for the model ${model.slice(0, 256)}, and a budget needs one`
  return { status: 403, code: 'model_unpriced', message, retryAfter: null }
}

function exceeded({ name, unit, budget }: BudgetLimit, { left, now, end }: ExceededBudget): SpendingRefusal {
  const rest = `${amountText(left, unit)} of ${amountText(budget.amount, unit)} left`
  const message = `budget exceeded: ${name} has ${rest} and begins anew at ${new Date(end).toISOString()}`
  const retryAfter = Math.max(1, Math.ceil((end - now) / 1000))
  return { status: 429, code: 'budget_exceeded', message, retryAfter }
}

/** `$0.25`, or `1,000 tokens`. */
function amountText(amount: number, unit: BudgetLimit['unit']): string {
  if (unit === 'tokens') return `${amount.toLocaleString('en-US')} tokens`
  const [whole, fraction = ''] = (amount / 1e9).toFixed(9).split('.')
  return `$${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`
}

const UNAVAILABLE: SpendingRefusal = {
  status: 503,
  code: 'budget_unavailable',
  message: 'budget store unavailable',
  retryAfter: null,
}
