/** The cost of one call. The cost of a call without a price is unknown, never zero. */
export type Cost = KnownCost | { readonly kind: 'unknown'; readonly why: string }

interface KnownCost {
  readonly kind: 'known'
  /** Billionths of a US dollar, an integer. A fraction of one counts as a whole one. */
  readonly nanoDollars: number
  /** The row of the price table, as `openai/gpt-5.5`. */
  readonly row: string
  /** The table of the row, with its version. */
  readonly table: string
  /** `estimated` when a count of tokens is an estimate, or when the row is not made for the service tier of the call. */
  readonly basis: 'computed' | 'estimated'
}
