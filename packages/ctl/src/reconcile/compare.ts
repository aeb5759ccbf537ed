import type { UsageGroup } from '@portico/gateway/admin-api'
import { addAmounts, type Amounts, type Measure, readNanos } from './amounts.ts'
import type { Invoice } from './invoice.ts'

/** One measure of a model on a day that invoice and ledger disagree about. */
export interface Difference {
  readonly day: string
  /** As the invoice names the model; as the ledger does when the invoice lacks it. */
  readonly model: string
  readonly measure: Measure
  /** Null when the invoice has no such model on that day. */
  readonly invoice: bigint | null
  /** Null when the ledger has no such calls, or knows no cost of them. */
  readonly ledger: bigint | null
  /** Calls in the ledger whose cost is unknown. */
  readonly unpricedCalls: number
}

export interface Comparison {
  readonly differences: readonly Difference[]
  /** The sums of all days and models, also of those without differences. */
  readonly totals: readonly Omit<Difference, 'day' | 'model'>[]
  /** The number of days with the same model that were compared. */
  readonly compared: number
}

/** Compares by day and model. Amounts are equal when they differ by at most `tolerance`, a share of the invoice. */
export function compare(invoice: Invoice, groups: readonly UsageGroup[], tolerance: number): Comparison {
  const billed = invoice.lines.map(({ day, model, amounts }) => ({ day, model, amounts, unpricedCalls: 0 }))
  const kept = groups
    .filter(({ group }) => group['provider'] === invoice.provider)
    .map((group) => ({
      ...{ day: group.group['day'] ?? '', model: group.group['model'] ?? '', amounts: amountsOf(group) },
      unpricedCalls: group.unpricedCalls,
    }))
  // An export without models can be compared by day only.
  const keyOf = billed.some(({ model }) => model === '')
    ? ({ day }: Entry): string => day
    : ({ day, model }: Entry): string => `${day} ${comparableModel(model)}`
  const sides = [sumBy(billed, keyOf), sumBy(kept, keyOf)] as const
  const keys = [...new Set([...sides[0].keys(), ...sides[1].keys()])].toSorted()
  const differences = keys.flatMap((key) => {
    const [one, other] = [sides[0].get(key), sides[1].get(key)]
    return invoice.measures.flatMap((measure) => {
      const compared = pair(measure, one, other)
      if (areClose(compared, tolerance)) return []
      const day = one?.day ?? other?.day ?? ''
      return { day, model: one?.model ?? other?.model ?? '', ...compared }
    })
  })
  const all = sides.map((side) => [...sumBy([...side.values()], () => '').values()][0])
  return {
    differences,
    totals: invoice.measures.map((measure) => pair(measure, all[0], all[1])),
    compared: keys.length,
  }
}

/** The form of a model's name that is the same in invoices and responses: `Claude Haiku 3.5`, `claude-3-5-haiku-20241022`. */
export function comparableModel(model: string): string {
  const plain = model
    .toLowerCase()
    .replaceAll(/[\s.@]+/g, '-')
    .replace(/-(\d{8}|\d{4}-\d\d-\d\d|latest)$/, '')
  const words = plain.split('-')
  const isNumber = (word: string): boolean => /^\d+$/.test(word)
  // Names of Claude have the version before or after the size.
  if (words[0] !== 'claude') return plain
  return [...words.filter((word) => !isNumber(word)), ...words.filter(isNumber)].join('-')
}

interface Entry {
  readonly day: string
  readonly model: string
  readonly amounts: Amounts
  readonly unpricedCalls: number
}

function sumBy(entries: readonly Entry[], keyOf: (entry: Entry) => string): Map<string, Entry> {
  const sums = new Map<string, Entry>()
  for (const entry of entries) {
    const key = keyOf(entry)
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, entry)
    else {
      const unpricedCalls = sum.unpricedCalls + entry.unpricedCalls
      sums.set(key, { ...sum, amounts: addAmounts(sum.amounts, entry.amounts), unpricedCalls })
    }
  }
  return sums
}

/** Costs of the ledger that are unknown are 0 here, so that sums stay; `unpricedCalls` says how many there are. */
function amountsOf({
  calls,
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
  costUsd,
}: UsageGroup): Amounts {
  const nanoDollars = costUsd === null ? 0n : (readNanos(costUsd) ?? 0n)
  return { calls, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, nanoDollars }
}

function pair(measure: Measure, one: Entry | undefined, other: Entry | undefined) {
  const valueOf = (entry: Entry | undefined): bigint | null => {
    const value = entry?.amounts[measure] ?? null
    return value === null ? null : BigInt(value)
  }
  const unpricedCalls = measure === 'nanoDollars' ? (other?.unpricedCalls ?? 0) : 0
  const isUnknown = unpricedCalls > 0 && other?.amounts.nanoDollars === 0n
  return { measure, invoice: valueOf(one), ledger: isUnknown ? null : valueOf(other), unpricedCalls }
}

/** Exports round each cost to a cent, so costs that differ by less are equal. An unknown cost is equal to none. */
function areClose(
  { measure, invoice, ledger, unpricedCalls }: Omit<Difference, 'day' | 'model'>,
  tolerance: number,
): boolean {
  if (unpricedCalls > 0) return false
  const [one, other] = [invoice ?? 0n, ledger ?? 0n]
  const difference = one > other ? one - other : other - one
  if (measure === 'nanoDollars' && difference < CENT) return true
  return Number(difference) <= Math.abs(Number(one)) * tolerance
}

const CENT = 10_000_000n
