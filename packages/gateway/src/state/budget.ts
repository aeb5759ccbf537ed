import type { SharedCells } from './counters.ts'

export interface BudgetOptions {
  cells: SharedCells
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
}

/**
 * A budget that many threads spend from: full at first (`amount + burst`), and `amount` more, up to that, with each
 * whole window since the first use. Two words hold it, and each of their states is a valid one, whoever dies when:
 *
 *   start   time of the first use, plus one; 0 before. Written once.
 *   spent   number of the newest window that somebody spent in (high half), what is missing from a full budget in it
 *           (low half). One compare-and-swap moves both.
 *
 * What is missing, not what is left: a reload with other numbers keeps what was spent.
 * Times come from one monotonic clock. A thread whose time is a little old spends from the newest window it finds.
 */
export class Budget {
  readonly capacity: number
  readonly #cells: SharedCells
  readonly #amount: number
  readonly #windowMs: number

  constructor({ cells, amount, burst, windowMs }: BudgetOptions) {
    if (amount < 1 || burst < 0 || amount + burst > MOST) throw new RangeError(`a budget of ${amount} + ${burst}`)
    this.capacity = amount + burst
    this.#cells = cells
    this.#amount = amount
    this.#windowMs = windowMs
  }

  /** Spends `count`, or nothing when less is left. */
  take(count: number, now: number): Standing {
    const words = this.#cells.use(now)
    const start = startOf(words, now)
    for (;;) {
      const before = Atomics.load(words, SPENT)
      const { window, spent } = this.#at(before, start, now)
      if (spent + count > this.capacity) return this.#standing(false, start, { window, spent }, now)
      const after = { window, spent: spent + count }
      if (swap(words, before, after)) return this.#standing(true, start, after, now)
    }
  }

  /** Whether anything is left; spends nothing. */
  look(now: number): Standing {
    const words = this.#cells.use(now)
    const start = startOf(words, now)
    const state = this.#at(Atomics.load(words, SPENT), start, now)
    return this.#standing(state.spent < this.capacity, start, state, now)
  }

  /** Spends what was used already: more than is left empties the budget, and makes no debt. */
  charge(count: number, now: number): void {
    const words = this.#cells.use(now)
    const start = startOf(words, now)
    for (;;) {
      const before = Atomics.load(words, SPENT)
      const { window, spent } = this.#at(before, start, now)
      // Not below what is spent: another worker may still run with a larger budget.
      if (swap(words, before, { window, spent: Math.max(spent, Math.min(spent + count, this.capacity)) })) return
    }
  }

  /** Undoes a take of that window. When the window has passed it stays spent: the next one must not get it on top. */
  giveBack(count: number, window: number, now: number): void {
    const words = this.#cells.use(now)
    for (;;) {
      const before = Atomics.load(words, SPENT)
      if (windowOf(before) !== window) return
      if (swap(words, before, { window, spent: spentOf(before) - count })) return
    }
  }

  /** The word as it counts now: each window that has begun since has given back `amount`. */
  #at(word: bigint, start: number, now: number): State {
    const written = windowOf(word)
    const window = Math.max(written, Math.floor((now - start) / this.#windowMs))
    if (window === written) return { window, spent: spentOf(word) }
    // A budget that a reload made smaller is empty at most.
    const spent = Math.min(spentOf(word), this.capacity)
    return { window, spent: Math.max(0, spent - (window - written) * this.#amount) }
  }

  #standing(granted: boolean, start: number, { window, spent }: State, now: number): Standing {
    return {
      granted,
      remaining: Math.max(0, this.capacity - spent),
      resetMs: start + (window + 1) * this.#windowMs - now,
      window,
    }
  }
}

interface State {
  window: number
  spent: number
}

const START = 0
const SPENT = 1
/** What the low half of a word can hold. */
const MOST = 2 ** 32 - 1
const LOW_HALF = 0xffff_ffffn

function startOf(words: BigInt64Array<SharedArrayBuffer>, now: number): number {
  const mine = BigInt(Math.floor(now) + 1)
  let start = Atomics.load(words, START)
  if (start === 0n) {
    const before = Atomics.compareExchange(words, START, 0n, mine)
    start = before === 0n ? mine : before
  }
  return Number(start) - 1
}

function windowOf(word: bigint): number {
  return Number(word >> 32n)
}

function spentOf(word: bigint): number {
  return Number(word & LOW_HALF)
}

function swap(words: BigInt64Array<SharedArrayBuffer>, before: bigint, { window, spent }: State): boolean {
  const after = (BigInt(window) << 32n) | BigInt(spent)
  return Atomics.compareExchange(words, SPENT, before, after) === before
}
