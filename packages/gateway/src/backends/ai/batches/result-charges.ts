import type { Renewals } from '../../../spending/renewals.ts'
import type { Budget, BudgetBalance, BudgetDecision, BudgetStore } from '../../../stores/budgets/budget-store.ts'
import { nowOrLater } from '../../../pipeline/call/follow.ts'

/** The lines of a batch's results that one fetch of the results charges. */
export interface ResultCharge {
  /** The number of lines that earlier fetches have charged. */
  readonly from: number
  /** Whether earlier fetches have charged all lines, so that this fetch charges nothing. */
  readonly isComplete: boolean
  /** Ends the fetch: `lines` lines were read, which are all lines when `isWhole`. */
  settle(lines: number, isWhole: boolean): void
}

/** `busy` while another request fetches the same results; `unavailable` when the store does not answer. */
type ChargeDecision = ResultCharge | 'busy' | 'unavailable'

/**
 * Charges each line of a batch's results once, although clients may fetch the results often. The number of charged
 * lines is an amount in the store of budgets, so all workers know the number, and all gateways that share the store. A
 * fetch reserves the amount with a lease: when its process dies, the next fetch charges the lines that were not
 * settled.
 */
export class ResultCharges {
  readonly #store: BudgetStore
  readonly #renewals: Renewals

  constructor(store: BudgetStore, renewals: Renewals) {
    this.#store = store
    this.#renewals = renewals
  }

  /**
   * Reserves memory in the store for the charges of results; called when the config is loaded. Returns false when there
   * is no room.
   */
  static prepare(store: BudgetStore): boolean {
    return store.prepare(ROOM)
  }

  /** Begins to charge the results of a batch; `createdAt` is the creation of the batch, in milliseconds since 1970. */
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
      // The store has no room for another batch, so the results are charged now, at the risk of a second charge.
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

/** Returns the budget whose amount is the charged lines of one batch. Its period is longer than providers keep results. */
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
/** The amount that a fetch reserves, which is more than the lines of any file. */
const ALL = 2 ** 40
/** The amount that says that all lines of the results were charged. */
const COMPLETE = ALL - 1
const PERIOD_MS = 60 * 24 * 3_600_000
