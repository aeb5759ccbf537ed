/** The calls of one model on one day, as a vendor or the ledger counts them. A measure that is missing is null. */
export interface Amounts {
  readonly calls: number | null
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly cacheReadTokens: number | null
  readonly cacheWriteTokens: number | null
  /** Billionths of a US dollar. */
  readonly nanoDollars: bigint | null
}

/** The name of a measure that invoice and ledger may have. */
export type Measure = keyof Amounts

/** Reads a decimal number as billionths, rounded; null for another text. Exports may have more digits, or an exponent. */
export function readNanos(text: string): bigint | null {
  const match = /^(-?)(\d{1,15})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/.exec(text.trim())
  if (match === null) return null
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  // The digits after the point of billionths decide the rounding.
  const shift = Number(exponent) + 9 - fraction.length
  const digits = BigInt(whole + fraction)
  const nanos = shift >= 0 ? digits * 10n ** BigInt(shift) : (digits * 10n) / 10n ** BigInt(-shift)
  const rounded = shift >= 0 ? nanos : (nanos + 5n) / 10n
  return sign === '-' ? -rounded : rounded
}

/** Prints billionths as an exact decimal number, with at least two digits after the point. */
export function printNanos(nanos: bigint): string {
  const digits = (nanos < 0n ? -nanos : nanos).toString().padStart(10, '0')
  return `${nanos < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9).replace(/0{1,7}$/, '')}`
}

/** Adds amounts; a measure that one of them lacks is missing in the sum. */
export function addAmounts(one: Amounts, other: Amounts): Amounts {
  const add = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b)
  return {
    calls: add(one.calls, other.calls),
    inputTokens: add(one.inputTokens, other.inputTokens),
    outputTokens: add(one.outputTokens, other.outputTokens),
    cacheReadTokens: add(one.cacheReadTokens, other.cacheReadTokens),
    cacheWriteTokens: add(one.cacheWriteTokens, other.cacheWriteTokens),
    nanoDollars: one.nanoDollars === null || other.nanoDollars === null ? null : one.nanoDollars + other.nanoDollars,
  }
}
