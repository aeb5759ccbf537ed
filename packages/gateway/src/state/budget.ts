import type { SharedCells } from '@portico/http/client'
import {
  type BudgetNumbers,
  BudgetRule,
  type Spendable,
  spentOf,
  type Standing,
  windowOf,
  wordOf,
} from './budget-rule.ts'

export interface BudgetOptions extends BudgetNumbers {
  cells: SharedCells
}

/**
 * A budget that many threads spend from. Its state is two words, and every combination of their values is valid, even
 * when a thread dies between two writes:
 *
 *     start   time of the first use, plus one; 0 before. Written once.
 *     spent   the state word of `BudgetRule`. One compare-and-swap changes both halves.
 *
 * All times come from one monotonic clock. A thread whose time is slightly old spends from the newest window in the word.
 */
export class Budget implements Spendable {
  readonly #cells: SharedCells
  readonly #rule: BudgetRule

  constructor({ cells, ...numbers }: BudgetOptions) {
    this.#cells = cells
    this.#rule = new BudgetRule(numbers)
  }

  get capacity(): number {
    return this.#rule.capacity
  }

  take(count: number, now: number): Standing {
    const words = this.#cells.use(now)
    const start = startOf(words, now)
    for (;;) {
      const before = Atomics.load(words, SPENT)
      const { window, spent } = this.#rule.at(before, start, now)
      if (spent + count > this.capacity) return this.#rule.standing(false, start, { window, spent }, now)
      const after = { window, spent: spent + count }
      if (swap(words, before, wordOf(after))) return this.#rule.standing(true, start, after, now)
    }
  }

  look(now: number): Standing {
    const words = this.#cells.use(now)
    const start = startOf(words, now)
    const state = this.#rule.at(Atomics.load(words, SPENT), start, now)
    return this.#rule.standing(state.spent < this.capacity, start, state, now)
  }

  charge(count: number, now: number): void {
    const words = this.#cells.use(now)
    const start = startOf(words, now)
    for (;;) {
      const before = Atomics.load(words, SPENT)
      const { window, spent } = this.#rule.at(before, start, now)
      if (swap(words, before, wordOf({ window, spent: this.#rule.charged(spent, count) }))) return
    }
  }

  giveBack(count: number, window: number, now: number): void {
    const words = this.#cells.use(now)
    for (;;) {
      const before = Atomics.load(words, SPENT)
      if (windowOf(before) !== window) return
      if (swap(words, before, wordOf({ window, spent: spentOf(before) - count }))) return
    }
  }
}

const START = 0
const SPENT = 1

function startOf(words: BigInt64Array<SharedArrayBuffer>, now: number): number {
  const mine = BigInt(Math.floor(now) + 1)
  let start = Atomics.load(words, START)
  if (start === 0n) {
    const before = Atomics.compareExchange(words, START, 0n, mine)
    start = before === 0n ? mine : before
  }
  return Number(start) - 1
}

function swap(words: BigInt64Array<SharedArrayBuffer>, before: bigint, after: bigint): boolean {
  return Atomics.compareExchange(words, SPENT, before, after) === before
}
