// A spend word is a 64-bit word of shared memory with an amount and its period, so that one compare-and-swap changes both.

/** The largest amount of a budget. */
export const MOST_AMOUNT = 2 ** 50 - 1
/** The mask of a period number's low bits, which are the bits that a word stores. */
export const PERIOD_MASK = 2 ** 14 - 1
/** The largest number of periods that the clock may be set back. */
export const SET_BACK = 2

const AMOUNT_BITS = 50n
const AMOUNT_MASK = (1n << AMOUNT_BITS) - 1n

export function wordOf(period: number, amount: number): bigint {
  return (BigInt(period & PERIOD_MASK) << AMOUNT_BITS) | BigInt(amount)
}

export function periodOf(word: bigint): number {
  return Number(word >> AMOUNT_BITS)
}

export function amountOf(word: bigint): number {
  return Number(word & AMOUNT_MASK)
}
