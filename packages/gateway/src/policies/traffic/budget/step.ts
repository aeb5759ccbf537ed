import { implement } from '../../../pipeline/context/step.ts'
import { claimBudgets } from '../../../spending/claim.ts'
import { refuseSpending } from '../../../spending/refuse-spending.ts'
import { Renewals } from '../../../spending/renewals.ts'
import { BudgetLimit } from './limit.ts'
import type { BudgetConfig } from './schema.ts'

export const budget = implement<BudgetConfig>(({ limits: configs, outputTokens, unpriced }, env) => {
  const limits = configs.map((config) => new BudgetLimit(config, env))
  const settings = { outputTokens, allowsUnpriced: unpriced === 'Allow' }
  const parts = { store: env.budgets(), renewals: new Renewals(env.deadlines) }
  return {
    request(rx) {
      const refusal = claimBudgets(rx, { budgets: limits.map((limit) => limit.budgetOf(rx)), ...settings }, parts)
      if (refusal !== null) return refuseSpending(rx, refusal)
    },
  }
})
