import { PARTS } from './budget-period.ts'
import { amountOf, MOST_AMOUNT, PERIOD_MASK, periodOf, SET_BACK, wordOf } from './spend-word.ts'

/**
 * The amounts that the slots of a `SpendTable` have spent in each part of a rolling period, in shared memory without
 * locks. The slot holds the sum. The thread that takes a part out, once it is outside the period, subtracts it from the
 * sum, and only one thread gets it.
 */
export class PartTable {
  readonly #words: BigUint64Array<SharedArrayBuffer>
  /** The halves of the words. A table may have a million words, which are read every second. */
  readonly #halves: Int32Array<SharedArrayBuffer>

  constructor(buffer: SharedArrayBuffer) {
    const words = Math.floor((buffer.byteLength - SALT_BYTES) / 8)
    this.#words = new BigUint64Array(buffer, 0, words)
    this.#halves = new Int32Array(buffer, 0, words * 2)
  }

  /**
   * The size of the memory for a number of slots, for `KeyedTables`, whose memory has three words or more for each unit of
   * size and a salt at its end.
   */
  static size(slots: number): number {
    return Math.ceil((FIRST + slots * WIDTH) / 3)
  }

  /** Adds to the part of a moment; returns an amount that was in its place, and is outside the period. */
  add(slot: number, part: number, amount: number): number {
    // Told first, so that no change is missed.
    Atomics.store(this.#words, IS_USED, 1n)
    const at = FIRST + slot * WIDTH + (part % WIDTH)
    for (;;) {
      const before = Atomics.load(this.#words, at)
      const isOver = isOutside(before, part)
      // A clock that was set back adds to the part that is there.
      const kept = isOver || before === 0n ? part : periodOf(before)
      const sum = Math.min((isOver ? 0 : amountOf(before)) + amount, MOST_AMOUNT)
      if (this.#swap(at, before, wordOf(kept, sum))) return isOver ? amountOf(before) : 0
    }
  }

  /** Takes out what is outside the period, and returns the amount. */
  expire(slot: number, part: number): number {
    let gone = 0
    const from = FIRST + slot * WIDTH
    for (let at = from; at < from + WIDTH; at++) {
      const before = Atomics.load(this.#words, at)
      if (isOutside(before, part) && this.#swap(at, before, 0n)) gone += amountOf(before)
    }
    return gone
  }

  /** The oldest part in the period that has spent something; null when nothing was spent. */
  oldest(slot: number, part: number): number | null {
    let age: number | null = null
    const from = FIRST + slot * WIDTH
    for (let at = from; at < from + WIDTH; at++) {
      const word = Atomics.load(this.#words, at)
      if (amountOf(word) > 0 && !isOutside(word, part)) age = Math.max(age ?? 0, ageOf(word, part))
    }
    return age === null ? null : part - age
  }

  /** The words that are in use, as decimal texts. */
  save(): SavedParts {
    const words: [index: number, word: string][] = []
    if (Atomics.load(this.#words, IS_USED) === 0n) return { words }
    for (let at = FIRST; at < this.#words.length; at++) {
      if (this.#halves[at * 2] === 0 && this.#halves[at * 2 + 1] === 0) continue
      const word = Atomics.load(this.#words, at)
      if (amountOf(word) > 0) words.push([at, String(word)])
    }
    return { words }
  }

  /** Fills new memory; called before any thread uses it. */
  static restore(buffer: SharedArrayBuffer, { words }: SavedParts): void {
    const table = new PartTable(buffer)
    if (words.length > 0) table.#words[IS_USED] = 1n
    for (const [index, word] of words) if (index < table.#words.length) table.#words[index] = BigInt(word)
  }

  #swap(at: number, before: bigint, after: bigint): boolean {
    return Atomics.compareExchange(this.#words, at, before, after) === before
  }
}

/** The amounts of a table as JSON. */
export interface SavedParts {
  readonly words: readonly (readonly [index: number, word: string])[]
}

/** The parts of a period, and the one that has only begun to leave it. */
const WIDTH = PARTS + 1
/** The word that is 1 once something was spent: an unused table is not read through. */
const IS_USED = 0
const FIRST = 1
const SALT_BYTES = 16

function isOutside(word: bigint, part: number): boolean {
  return word !== 0n && ageOf(word, part) > PARTS
}

/** The number of parts since that of the word; 0 for a clock that was set back a little. */
function ageOf(word: bigint, part: number): number {
  const age = (part - periodOf(word)) & PERIOD_MASK
  return age > PERIOD_MASK - SET_BACK ? 0 : age
}

/** The id of the table of parts that belongs to a table of budgets. */
export function partTableId(id: string): string {
  return `${id}${PART_TABLE}`
}

export function isPartTable(id: string): boolean {
  return id.endsWith(PART_TABLE)
}

const PART_TABLE = ' (parts)'
