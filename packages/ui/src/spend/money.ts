import { formatDollars } from '../prices/cost.ts'

/** Reads the exact amount of the admin API, such as `12.000000001`, as billionths of a dollar. */
export function readNanoDollars(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.slice(0, 9).padEnd(9, '0'))
}

/** Billionths of a dollar for people, rounded. */
export function formatNanoDollars(nanoDollars: bigint): string {
  return formatDollars(Number(nanoDollars) / 1e9)
}

/** Calls with the costs that are known, and how many are unknown or estimated. */
export interface Spending {
  readonly calls: number
  readonly unpricedCalls: number
  readonly estimatedCalls: number
  /** Null when no cost is known. */
  readonly nanoDollars: bigint | null
}

/** The cost as text: exact, an estimate (`≈`), a lower bound (`≥`), or `unknown`. */
export function spendingText({ calls, unpricedCalls, estimatedCalls, nanoDollars }: Spending): string {
  if (nanoDollars === null) return calls === 0 ? '$0' : 'unknown'
  if (unpricedCalls > 0) return `≥ ${formatNanoDollars(nanoDollars)}`
  return estimatedCalls > 0 ? `≈ ${formatNanoDollars(nanoDollars)}` : formatNanoDollars(nanoDollars)
}
