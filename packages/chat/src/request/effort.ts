import type { Effort, Reasoning } from '../middle.ts'

/** The thinking budget in tokens for each effort, for providers that take a number. */
const BUDGETS: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 2048,
  high: 4096,
  xhigh: 8192,
  max: 16384,
}

export function isEffort(word: string): word is Effort {
  return word === 'none' || Object.hasOwn(BUDGETS, word)
}

/**
 * The client's thinking budget, or the budget for its effort; null when the client wants no reasoning, or sets nothing.
 */
export function budgetOf(reasoning: Reasoning | null): number | null {
  if (reasoning?.budget !== undefined) return reasoning.budget
  if (reasoning?.effort === undefined || reasoning.effort === 'none') return null
  return BUDGETS[reasoning.effort]
}

/** The client's effort, or an effort for its budget that every reasoning model knows. Clients set large budgets. */
export function effortOf(reasoning: Reasoning | null): Effort | null {
  if (reasoning?.effort !== undefined) return reasoning.effort
  if (reasoning?.budget === undefined) return null
  if (reasoning.budget < 2048) return 'low'
  return reasoning.budget < 8192 ? 'medium' : 'high'
}
