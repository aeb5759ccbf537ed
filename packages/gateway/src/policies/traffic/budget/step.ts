import { implement } from '../../../pipeline/context/step.ts'
import { claimBudgets, claimForShadow } from '../../../spending/claim.ts'
import { refuseSpending } from '../../../spending/refuse-spending.ts'
import { Renewals } from '../../../spending/renewals.ts'
import { BudgetLimit } from './limit.ts'
import type { BudgetConfig } from './schema.ts'

export const budget = implement<BudgetConfig>(({ limits: configs, outputTokens, unpriced }, env) => {
  const limits = configs.map((config) => new BudgetLimit(config, env))
  const settings = { outputTokens, allowsUnpriced: unpriced === 'Allow' }
  const parts = { store: env.budgets(), renewals: new Renewals(env.deadlines) }
  return {
    findsNothing: true,
    request(rx) {
      const part = { budgets: limits.map((limit) => limit.budgetOf(rx)), ...settings }
      const refusal = rx.original === null ? claimBudgets(rx, part, parts) : claimForShadow(rx.original, part, parts)
      if (refusal instanceof Promise)
        return refusal.then((found) => (found === null ? undefined : refuseSpending(rx, found)))
      if (refusal !== null) return refuseSpending(rx, refusal)
    },
  }
})
