import { Double, type Result, Uint } from '@portico/cel'
import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import { countedPeriod, periodId } from '../../../state/budget-period.ts'
import type { SpendingBudget } from '../../../pipeline/context/spending.ts'
import type { Budget } from '../../../stores/budgets/budget-store.ts'
import type { BudgetConfig } from './schema.ts'

type LimitConfig = BudgetConfig['limits'][number]

/** One budget of the config, or one for each key. */
export class BudgetLimit {
  readonly #name: string
  readonly #unit: 'usd' | 'tokens'
  readonly #budget: Budget
  readonly #keyOf: (rx: RequestContext) => string

  constructor(config: LimitConfig, env: Env) {
    const { name, usd, tokens, key, maxKeys } = config
    this.#name = name
    this.#unit = usd === undefined ? 'tokens' : 'usd'
    this.#budget = {
      // A change of the amount keeps what was spent.
      id: `${env.attachment}/budget/${name}/${this.#unit}/${periodId(config)}/${key ?? ''}`,
      amount: usd === undefined ? tokens : Math.round(usd * 1e9),
      maxKeys: key === undefined ? 1 : maxKeys,
      isKeyed: key !== undefined,
      ...countedPeriod(config),
    }
    if (!env.budgets().prepare(this.#budget)) {
      const found = `found no room for ${maxKeys} keys of the budget ${name}`
      throw new ConfigFault(config, [], { found, expected: 'fewer keys' })
    }
    const expression = key === undefined ? null : env.cel(key, 'request')
    this.#keyOf = (rx) => (expression === null ? 'all' : keyText(expression.evaluate(rx)))
  }

  /** The budget of a request. */
  budgetOf(rx: RequestContext): SpendingBudget {
    return { name: this.#name, unit: this.#unit, share: { budget: this.#budget, key: this.#keyOf(rx) } }
  }
}

/** Requests without a key share a separate budget. */
function keyText(value: Result): string {
  if (typeof value === 'string') return `key ${value}`
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') return `key ${value}`
  if (value instanceof Double || value instanceof Uint) return `key ${value.value}`
  return 'none'
}
