import { PARTS } from './budget-period.ts'
import { amountOf, MOST_AMOUNT, PERIOD_MASK, periodOf, SET_BACK, wordOf } from './spend-word.ts'

/**
 * The amounts spent in each part of a rolling period, for the slots of a `SpendTable`, in shared memory without locks.
 * The slot in the `SpendTable` holds the sum of its parts. A part that has left the period is taken out by one thread
 * only, which subtracts the amount from the sum.
 */
export class PartTable {
  readonly #words: BigUint64Array<SharedArrayBuffer>
  /**
   * A view of the same memory as 32-bit halves, which are faster to read: a table may have a million words, which are
   * read every second.
   */
  readonly #halves: Int32Array<SharedArrayBuffer>

  constructor(buffer: SharedArrayBuffer) {
    const words = Math.floor((buffer.byteLength - SALT_BYTES) / 8)
    this.#words = new BigUint64Array(buffer, 0, words)
    this.#halves = new Int32Array(buffer, 0, words * 2)
  }

  /**
   * Returns the size of the memory for a number of slots, in the units of `KeyedTables`. A unit has three words or
   * more, and the memory ends with a salt.
   */
  static size(slots: number): number {
    return Math.ceil((FIRST + slots * WIDTH) / 3)
  }

  /** Adds an amount to a part. Returns the old amount of the word when that amount belongs to a part outside the period. */
  add(slot: number, part: number, amount: number): number {
    // The table is marked as used before the amount changes, so that no save misses the change.
    Atomics.store(this.#words, IS_USED, 1n)
    const at = FIRST + slot * WIDTH + (part % WIDTH)
    for (;;) {
      const before = Atomics.load(this.#words, at)
      const isOver = isOutside(before, part)
      // When the clock was set back, the amount is added to the newer part in the word.
      const kept = isOver || before === 0n ? part : periodOf(before)
      const sum = Math.min((isOver ? 0 : amountOf(before)) + amount, MOST_AMOUNT)
      if (this.#swap(at, before, wordOf(kept, sum))) return isOver ? amountOf(before) : 0
    }
  }

  /** Removes the parts outside the period, and returns the sum of their amounts. */
  expire(slot: number, part: number): number {
    let gone = 0
    const from = FIRST + slot * WIDTH
    for (let at = from; at < from + WIDTH; at++) {
      const before = Atomics.load(this.#words, at)
      if (isOutside(before, part) && this.#swap(at, before, 0n)) gone += amountOf(before)
    }
    return gone
  }

  /** Returns the number of the oldest part in the period with an amount; null when nothing was spent. */
  oldest(slot: number, part: number): number | null {
    let age: number | null = null
    const from = FIRST + slot * WIDTH
    for (let at = from; at < from + WIDTH; at++) {
      const word = Atomics.load(this.#words, at)
      if (amountOf(word) > 0 && !isOutside(word, part)) age = Math.max(age ?? 0, ageOf(word, part))
    }
    return age === null ? null : part - age
  }

  /** Returns the words in use as decimal strings. */
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

  /**
   * Adds an amount to a part in saved words, as `add` does in memory. `gone` is the old amount of the word when that
   * amount belongs to a part outside the period.
   */
  static addSaved(
    { words }: SavedParts,
    { slot, part, amount }: { slot: number; part: number; amount: number },
  ): { saved: SavedParts; gone: number } {
    const index = FIRST + slot * WIDTH + (part % WIDTH)
    const at = words.findIndex(([each]) => each === index)
    const before = BigInt(words[at]?.[1] ?? '0')
    const isOver = isOutside(before, part)
    const kept = isOver || before === 0n ? part : periodOf(before)
    const sum = Math.min((isOver ? 0 : amountOf(before)) + amount, MOST_AMOUNT)
    const word = [index, String(wordOf(kept, sum))] as const
    const saved = { words: at === -1 ? [...words, word] : words.with(at, word) }
    return { saved, gone: isOver ? amountOf(before) : 0 }
  }

  /** Writes saved words to new memory, before any thread uses the memory. */
  static restore(buffer: SharedArrayBuffer, { words }: SavedParts): void {
    const table = new PartTable(buffer)
    if (words.length > 0) table.#words[IS_USED] = 1n
    for (const [index, word] of words) if (index < table.#words.length) table.#words[index] = BigInt(word)
  }

  #swap(at: number, before: bigint, after: bigint): boolean {
    return Atomics.compareExchange(this.#words, at, before, after) === before
  }
}

/** The saved words of a table, as JSON. */
export interface SavedParts {
  readonly words: readonly (readonly [index: number, word: string])[]
}

/** The number of words for each slot: the parts of a period, and one part that has begun to leave the period. */
const WIDTH = PARTS + 1
/** The index of the word that is 1 once anything was spent; an unused table is not searched. */
const IS_USED = 0
const FIRST = 1
const SALT_BYTES = 16

function isOutside(word: bigint, part: number): boolean {
  return word !== 0n && ageOf(word, part) > PARTS
}

/** Returns the number of parts between the word's part and the given part; 0 when the clock was set back a little. */
function ageOf(word: bigint, part: number): number {
  const age = (part - periodOf(word)) & PERIOD_MASK
  return age > PERIOD_MASK - SET_BACK ? 0 : age
}

/** Returns the id of the part table that belongs to a budget table. */
export function partTableId(id: string): string {
  return `${id}${PART_TABLE}`
}

export function isPartTable(id: string): boolean {
  return id.endsWith(PART_TABLE)
}

const PART_TABLE = ' (parts)'
