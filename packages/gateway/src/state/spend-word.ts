// A word of shared memory with an amount and the period that it counts in, which one compare-and-swap changes together.

/** The largest amount of a budget. */
export const MOST_AMOUNT = 2 ** 50 - 1
/** Words have the low bits of the number of a period. */
export const PERIOD_MASK = 2 ** 14 - 1
/** The number of periods that a clock may be set back. */
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
