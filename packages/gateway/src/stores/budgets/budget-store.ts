import type { CountedPeriod } from '../../state/budget-period.ts'
import type { Settlement } from './settlement.ts'
import { MOST_AMOUNT } from '../../state/spend-word.ts'

/** A budget, or one for each key. */
export interface Budget extends CountedPeriod {
  /** Names the budget; the same in every worker, generation and gateway that shares it. */
  readonly id: string
  /** Billionths of a US dollar, or tokens. */
  readonly amount: number
  /** The number of keys that have room. */
  readonly maxKeys: number
  /** Whether requests choose the key, so that a store that has no fixed size must count the keys. */
  readonly isKeyed: boolean
}

/** The budget of one key. */
export interface BudgetShare {
  readonly budget: Budget
  readonly key: string
}

/**
 * Keeps what budgets have spent and reserved. Both together are at most the amount of the budget, unless calls cost more
 * than was reserved.
 */
export interface BudgetStore {
  /** Prepares the room of budgets with this id; false when the store has no room for their keys. */
  prepare(room: BudgetRoom): boolean
  /** Starts a request that needs room in all of the shares. */
  open(shares: readonly BudgetShare[]): BudgetReservation
  /** Returns the refusal of a request for which nothing is left, as far as the store knows without waiting. */
  look(shares: readonly BudgetShare[]): BudgetDecision
  /** Returns the amounts of the current periods; null, or a promise of null, when the store does not answer. */
  balances(shares: readonly BudgetShare[]): readonly BudgetBalance[] | Promise<readonly BudgetBalance[] | null> | null
}

/** Keeps the amounts of budgets in shared memory as they are while another thread saves them. */
export interface SettlingGate {
  /** Begins to change amounts. */
  enter(): void
  leave(): void
}

export type BudgetRoom = Pick<Budget, 'id' | 'maxKeys' | 'partMs'>

/** The amount of a share in the current period. */
export interface BudgetBalance {
  /** Spent or reserved. */
  readonly used: number
  /**
   * The end of the period by the clock of the store; for a rolling period, the time at which more of the budget is
   * free.
   */
  readonly end: number
}

/** The reserved amounts of one request. A reservation that is not renewed ends by itself after `LEASE_MS`. */
export interface BudgetReservation {
  /** The reserved amount of each share; empty before the first reservation. */
  readonly amounts: readonly number[]
  /** Returns the refusal of a request for which nothing at all is left; null when there is room. */
  check(): BudgetDecision | Promise<BudgetDecision>
  /**
   * Reserves an amount of each share in one step, in place of the earlier amounts. When a share has no room, nothing
   * changes, and the refusal names the first such share.
   */
  reserve(amounts: readonly number[]): BudgetDecision | Promise<BudgetDecision>
  renew(): void
  /**
   * Replaces the reservation by what the request has cost, even beyond the budgets; called once. `record` gets what
   * another process needs to settle the request again.
   */
  settle(spent: readonly number[], record?: Settlement[]): void
}

/** Null when there is room. `index` is the position of the share that lacks room. */
export type BudgetDecision =
  | null
  | ExceededBudget
  /** No room for another key. */
  | { readonly kind: 'keysFull'; readonly index: number }
  /** The store could not decide. */
  | { readonly kind: 'unavailable' }

/** The amount of a budget that is left, and the time at which more is free, by the clock of the store. */
export interface ExceededBudget {
  readonly kind: 'exceeded'
  readonly index: number
  readonly left: number
  readonly now: number
  readonly end: number
}

/** A reservation is renewed while its call lives; that of a thread that died ends after this time. */
export const LEASE_MS = 30_000

/** Providers may report any number, and budgets count whole ones. */
export function wholeAmount(amount: number): number {
  return Math.min(Math.max(0, Math.ceil(amount)), MOST_AMOUNT)
}
