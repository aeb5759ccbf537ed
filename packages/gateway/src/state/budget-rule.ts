/** The numbers of a limit. */
export interface BudgetNumbers {
  /** What each window adds. */
  amount: number
  /** What may be saved up on top of it. */
  burst: number
  windowMs: number
}

/** How a budget stands right after an operation, as that operation left it. */
export interface Standing {
  /** Whether the operation got what it asked for. */
  granted: boolean
  remaining: number
  /** Milliseconds until more is added. */
  resetMs: number
  /** Counts from 0 at the first use. */
  window: number
  /** There was no place to count in: nothing was spent, whatever was granted. */
  hasNoRoom?: true
}

/** What limits spend from. */
export interface Spendable {
  readonly capacity: number
  /** Spends `count`, or nothing when less is left. */
  take(count: number, now: number): Standing
  /** Whether anything is left; spends nothing. */
  look(now: number): Standing
  /** Spends what was used already: more than is left empties the budget, and makes no debt. */
  charge(count: number, now: number): void
  /** Undoes a take of that window. When the window has passed it stays spent: the next one must not get it on top. */
  giveBack(count: number, window: number, now: number): void
}

/** One word of a budget, read. */
export interface Spent {
  window: number
  spent: number
}

/**
 * How a budget fills: full at first (`amount + burst`), and `amount` more, up to that, with each whole window.
 * Its state is one word: number of the newest window that somebody spent in (high half), what is missing from a full
 * budget in it (low half). What is missing, not what is left: a reload with other numbers keeps what was spent.
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

  /** The word as it counts now: each window that has begun since has given back `amount`. */
  at(word: bigint, start: number, now: number): Spent {
    const written = windowOf(word)
    const window = Math.max(written, Math.floor((now - start) / this.windowMs))
    if (window === written) return { window, spent: spentOf(word) }
    // A budget that a reload made smaller is empty at most.
    const spent = Math.min(spentOf(word), this.capacity)
    return { window, spent: Math.max(0, spent - (window - written) * this.#amount) }
  }

  /** The time at which the budget is full again, or since which it is: from then on it is like one never used. */
  fullAt(window: number, spent: number, start: number): number {
    return start + (window + Math.ceil(Math.min(spent, this.capacity) / this.#amount)) * this.windowMs
  }

  standing(granted: boolean, start: number, { window, spent }: Spent, now: number): Standing {
    return {
      granted,
      remaining: Math.max(0, this.capacity - spent),
      resetMs: start + (window + 1) * this.windowMs - now,
      window,
    }
  }

  /** What is spent after a charge: not less than before, because another worker may still run with a larger budget. */
  charged(spent: number, count: number): number {
    return Math.max(spent, Math.min(spent + count, this.capacity))
  }
}

export function wordOf({ window, spent }: Spent): bigint {
  return (BigInt(window) << 32n) | BigInt(spent)
}

export function windowOf(word: bigint): number {
  return Number(word >> 32n)
}

export function spentOf(word: bigint): number {
  return Number(word & LOW_HALF)
}

/** What the low half of a word can hold. */
const MOST = 2 ** 32 - 1
const LOW_HALF = 0xffff_ffffn
