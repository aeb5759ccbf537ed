/** The settings of a limit. */
export interface BudgetNumbers {
  /** Units that each window adds. */
  amount: number
  /** Units that may be saved up on top of `amount`. */
  burst: number
  windowMs: number
}

/** The state of a budget right after an operation. */
export interface Standing {
  /** Whether the operation was granted. */
  granted: boolean
  remaining: number
  /** Milliseconds until the next window adds units. */
  resetMs: number
  /** Number of the window, counted from 0 at the first use. */
  window: number
  /** The table had no room for the key: nothing was spent, even when the operation was granted. */
  hasNoRoom?: true
}

/** A budget that limits spend from. */
export interface Spendable {
  readonly capacity: number
  /** Spends `count`, or nothing when less than that is left. */
  take(count: number, now: number): Standing
  /** Whether anything is left; spends nothing. */
  look(now: number): Standing
  /** Spends units that were used already: a count larger than the rest empties the budget and makes no debt. */
  charge(count: number, now: number): void
  /**
   * Undoes a `take` of that window. After the window has passed, the units stay spent: the next window must not get
   * them on top.
   */
  giveBack(count: number, window: number, now: number): void
}

/** A decoded state word of a budget. */
interface BudgetState {
  window: number
  spent: number
}

/**
 * How a budget fills: it starts full (`amount + burst`), and each whole window adds `amount` up to that capacity. Its
 * state is one word: the high half is the number of the newest window in which units were spent, the low half is how
 * much is missing from a full budget in that window. The word stores the missing units, not the remaining units, so
 * that a reload with other settings keeps what was spent.
 */
export class BudgetRule {
  readonly capacity: number
  readonly windowMs: number
  readonly #amount: number

  constructor({ amount, burst, windowMs }: BudgetNumbers) {
    if (amount < 1 || burst < 0 || amount + burst > MOST) throw new RangeError(`a budget of ${amount} + ${burst}`)
    this.capacity = amount + burst
    this.windowMs = windowMs
    this.#amount = amount
  }

  /** Decodes the word for the time `now`: each window that has begun since the last write gives back `amount`. */
  at(word: bigint, start: number, now: number): BudgetState {
    const written = windowOf(word)
    const window = Math.max(written, Math.floor((now - start) / this.windowMs))
    if (window === written) return { window, spent: spentOf(word) }
    // A budget that a reload made smaller is empty at most, never in debt.
    const spent = Math.min(spentOf(word), this.capacity)
    return { window, spent: Math.max(0, spent - (window - written) * this.#amount) }
  }

  /** The time at which the budget becomes full, or became full. From then on the budget equals an unused budget. */
  fullAt(window: number, spent: number, start: number): number {
    return start + (window + Math.ceil(Math.min(spent, this.capacity) / this.#amount)) * this.windowMs
  }

  standing(granted: boolean, start: number, { window, spent }: BudgetState, now: number): Standing {
    return {
      granted,
      remaining: Math.max(0, this.capacity - spent),
      resetMs: start + (window + 1) * this.windowMs - now,
      window,
    }
  }

  /** The spent units after a charge. They never shrink, because another worker may still use a larger budget. */
  charged(spent: number, count: number): number {
    return Math.max(spent, Math.min(spent + count, this.capacity))
  }
}

export function wordOf({ window, spent }: BudgetState): bigint {
  return (BigInt(window) << 32n) | BigInt(spent)
}

export function windowOf(word: bigint): number {
  return Number(word >> 32n)
}

export function spentOf(word: bigint): number {
  return Number(word & LOW_HALF)
}

/** The largest value of the low half of a word. */
const MOST = 2 ** 32 - 1
const LOW_HALF = 0xffff_ffffn
