import type { Renewals } from '../../../spending/renewals.ts'
import type { Budget, BudgetBalance, BudgetDecision, BudgetStore } from '../../../stores/budgets/budget-store.ts'
import { nowOrLater } from '../../../pipeline/call/follow.ts'

/** The part of the results of a batch that this fetch charges. */
export interface ResultCharge {
  /** The lines that were charged before. */
  readonly from: number
  /** Whether all lines were charged before, so that this fetch charges nothing. */
  readonly isComplete: boolean
  /** Ends the fetch: `lines` were read, all of them when `isWhole`. */
  settle(lines: number, isWhole: boolean): void
}

/** `busy` while another client fetches the same results; `unavailable` when the store does not answer. */
type ChargeDecision = ResultCharge | 'busy' | 'unavailable'

/**
 * Lets each line of the results of batches be charged once, whoever fetches them how often. The lines that were charged
 * are an amount in the store of budgets, so all workers know them, and all gateways that share the store. A fetch holds
 * the results with a lease: what a process that dies has not settled is charged by the next fetch.
 */
export class ResultCharges {
  readonly #store: BudgetStore
  readonly #renewals: Renewals

  constructor(store: BudgetStore, renewals: Renewals) {
    this.#store = store
    this.#renewals = renewals
  }

  /** Makes room for the results; called when the config is loaded. */
  static prepare(store: BudgetStore): boolean {
    return store.prepare(ROOM)
  }

  /** Begins to charge the results of a batch that was created at this time, in milliseconds since 1970. */
  begin(key: string, createdAt: number): ChargeDecision | Promise<ChargeDecision> {
    const shares = [{ budget: budgetOf(createdAt), key }]
    return nowOrLater(this.#store.balances(shares), (balances) => this.#reserve(shares, balances))
  }

  #reserve(
    shares: readonly { budget: Budget; key: string }[],
    balances: readonly BudgetBalance[] | null,
  ): ChargeDecision | Promise<ChargeDecision> {
    const used = balances?.[0]?.used
    if (used === undefined) return 'unavailable'
    if (used === COMPLETE) return { from: Infinity, isComplete: true, settle() {} }
    const reservation = this.#store.open(shares)
    return nowOrLater(reservation.reserve([ALL - used]), (decision: BudgetDecision): ChargeDecision => {
      if (decision?.kind === 'exceeded') return 'busy'
      if (decision?.kind === 'unavailable') return 'unavailable'
      // Without room for another batch, results are rather charged twice than never.
      if (decision !== null) return { from: 0, isComplete: false, settle() {} }
      this.#renewals.add(reservation)
      return {
        from: used,
        isComplete: false,
        settle: (lines, isWhole) => {
          this.#renewals.delete(reservation)
          reservation.settle([Math.max(0, (isWhole ? COMPLETE : lines) - used)])
        },
      }
    })
  }
}

/** The budget of the lines of one batch. Its period is longer than providers keep results. */
function budgetOf(createdAt: number): Budget {
  return {
    ...ROOM,
    amount: ALL,
    isKeyed: true,
    periodAt(now) {
      const number = Math.max(0, Math.floor((now - createdAt) / PERIOD_MS))
      const start = createdAt + number * PERIOD_MS
      return { number, start, end: start + PERIOD_MS }
    },
  }
}

const ROOM = { id: 'batches/budget/results', maxKeys: 16_384, partMs: null }
/** More than a file has lines; held by a fetch. */
const ALL = 2 ** 40
/** The amount of results that were charged completely. */
const COMPLETE = ALL - 1
const PERIOD_MS = 60 * 24 * 3_600_000
