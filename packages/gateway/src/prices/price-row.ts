import type { Usage } from '@portico/chat'

/** The classes of tokens that a price row may have rates for. */
export const TOKEN_CLASSES = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'reasoning',
  'inputAudio',
  'outputAudio',
] as const

export type TokenClass = (typeof TOKEN_CLASSES)[number]

/** The price of one token. The unit is a trillionth of a US dollar, so `$2.50` for a million tokens is 2,500,000. */
export interface Rate {
  readonly base: number
  /** Rates for calls with more input tokens than `over`, in ascending order. */
  readonly steps: readonly { readonly over: number; readonly rate: number }[]
}

/** The prices of one model. */
export interface PriceRow {
  readonly name: string
  readonly table: string
  readonly rates: Readonly<Partial<Record<TokenClass, Rate>>>
  /** The price of a call on top of its tokens, in trillionths of a US dollar. */
  readonly perCall: number
}

/**
 * The cost of a call in billionths of a US dollar, rounded up once; null when the row has no rate for some tokens, or when
 * the counts contradict each other. Cached and audio tokens are part of the input, reasoning and audio tokens part of the
 * output. A class without a rate is billed as the class that it is a part of.
 */
export function priceUsage({ rates, perCall }: PriceRow, usage: Usage): number | null {
  const input = usage.input ?? 0
  const parts = [
    [
      rates.input,
      input,
      [part(rates, usage, 'cacheRead'), part(rates, usage, 'cacheWrite'), part(rates, usage, 'inputAudio')],
    ],
    [rates.output, usage.output ?? 0, [part(rates, usage, 'reasoning'), part(rates, usage, 'outputAudio')]],
  ] as const
  let sum = BigInt(perCall)
  for (const [rate, total, special] of parts) {
    const rest = special.reduce((left, { count }) => left - count, total)
    // A count that is negative, fractional or too large makes the rest so, too.
    if (!isCount(total) || !isCount(rest) || special.some(({ count }) => !isCount(count))) return null
    for (const { rate: own, count } of [...special, { rate, count: rest }]) {
      if (count === 0) continue
      if (own === undefined) return null
      sum += BigInt(count) * BigInt(rateFor(own, input))
    }
  }
  const nanoDollars = Number((sum + 999n) / 1000n)
  return Number.isSafeInteger(nanoDollars) ? nanoDollars : null
}

/** The tokens of a class that has a rate of its own. */
function part(rates: PriceRow['rates'], usage: Usage, name: Exclude<TokenClass, 'input' | 'output'>) {
  const rate = rates[name]
  return { rate, count: rate === undefined ? 0 : (usage[name] ?? 0) }
}

function rateFor({ base, steps }: Rate, input: number): number {
  return steps.findLast(({ over }) => input > over)?.rate ?? base
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 0
}
