import type { Effort, Reasoning } from './middle.ts'

/** Tokens for thinking where a provider wants a number and the client gave a word. */
export const BUDGETS: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
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

/** The client's number, or the one for its word; null when it wants no reasoning, or says nothing about it. */
export function budgetOf(reasoning: Reasoning | null): number | null {
  if (reasoning?.budget !== undefined) return reasoning.budget
  if (reasoning?.effort === undefined || reasoning.effort === 'none') return null
  return BUDGETS[reasoning.effort]
}

/** The client's word, or the one for its number: words that every reasoning model knows. Clients give large numbers. */
export function effortOf(reasoning: Reasoning | null): Effort | null {
  if (reasoning?.effort !== undefined) return reasoning.effort
  if (reasoning?.budget === undefined) return null
  if (reasoning.budget < 2048) return 'low'
  return reasoning.budget < 8192 ? 'medium' : 'high'
}
