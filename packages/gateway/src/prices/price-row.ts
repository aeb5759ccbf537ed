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

/** The units that a price row may have prices for, and the counts of usage that they are for. */
export const UNITS = {
  image: 'images',
  character: 'characters',
  second: 'seconds',
  search: 'searchUnits',
} as const satisfies Readonly<Record<string, keyof Usage>>

export type Unit = keyof typeof UNITS

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
  /** The price of one unit, in trillionths of a US dollar. */
  readonly units: Readonly<Partial<Record<Unit, number>>>
  /** The price of a call on top of its tokens and units, in trillionths of a US dollar; null when the row has none. */
  readonly perCall: number | null
}

/** Whether a row bills units or calls, and no tokens. */
function billsNoTokens({ rates, units, perCall }: PriceRow): boolean {
  return Object.keys(rates).length === 0 && (perCall !== null || Object.keys(units).length > 0)
}

/** Whether a usage has a count that the price of the row depends on. A price is never computed from nothing. */
export function countsFor(row: PriceRow, usage: Usage): boolean {
  const units = Object.keys(row.units) as Unit[]
  if (units.some((unit) => usage[UNITS[unit]] !== undefined)) return true
  if (usage.calls !== undefined && row.perCall !== null && units.length === 0 && billsNoTokens(row)) return true
  return !billsNoTokens(row) && (usage.input !== undefined || usage.output !== undefined)
}

/**
 * The cost of a call in billionths of a US dollar, rounded up; null when the row has no rate for some tokens, or when
 * the counts contradict each other. Cached and audio tokens are part of the input, reasoning and audio tokens part of the
 * output. A class without a rate is billed as the class that it is a part of.
 */
export function priceUsage(row: PriceRow, usage: Usage): number | null {
  const extra = priceUnits(row, usage)
  if (extra === null) return null
  const tokens = billsNoTokens(row) ? 0n : priceTokens(row, usage)
  if (tokens === null) return null
  const nanoDollars = Number((extra + tokens + 999n) / 1000n)
  return Number.isSafeInteger(nanoDollars) ? nanoDollars : null
}

/** The price of units and of the call, in trillionths of a US dollar. */
function priceUnits({ units, perCall }: PriceRow, usage: Usage): bigint | null {
  let sum = BigInt(perCall ?? 0)
  for (const unit of Object.keys(units) as Unit[]) {
    // Seconds have fractions.
    const thousandths = Math.round((usage[UNITS[unit]] ?? 0) * 1000)
    if (!isCount(thousandths)) return null
    sum += (BigInt(thousandths) * BigInt(units[unit] ?? 0) + 999n) / 1000n
  }
  return sum
}

/** The price of tokens, in trillionths of a US dollar. */
function priceTokens({ rates }: PriceRow, usage: Usage): bigint | null {
  const input = usage.input ?? 0
  const parts = [
    [
      rates.input,
      input,
      [part(rates, usage, 'cacheRead'), part(rates, usage, 'cacheWrite'), part(rates, usage, 'inputAudio')],
    ],
    [rates.output, usage.output ?? 0, [part(rates, usage, 'reasoning'), part(rates, usage, 'outputAudio')]],
  ] as const
  let sum = 0n
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
  return sum
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
