import type { ModelPriceConfig } from '../schema/fields/prices.ts'
import { type PriceRow, type Rate, TOKEN_CLASSES, type TokenClass, type Unit, UNITS } from './price-row.ts'

/** Rows of the config or of a file, found by provider and model. */
export class PriceList {
  readonly #exact = new Map<string, PriceRow>()
  /** Patterns with the longest prefix first. */
  readonly #patterns: readonly { readonly provider: string; readonly prefix: string; readonly row: PriceRow }[]

  /**
   * `table` is the name of the price list in records, or a function that returns the name for the index of a price. The
   * first of two prices for the same model takes precedence.
   */
  constructor(prices: readonly ModelPriceConfig[], table: string | ((index: number) => string)) {
    const patterns = []
    for (const [index, price] of prices.entries()) {
      const { provider = '', model } = price
      const row = rowOf(price, typeof table === 'string' ? table : table(index))
      if (model.endsWith('*')) patterns.push({ provider, prefix: model.slice(0, -1), row })
      else if (!this.#exact.has(keyOf(provider, model))) this.#exact.set(keyOf(provider, model), row)
    }
    // A pattern with a provider comes before one of the same length without.
    this.#patterns = patterns.toSorted(
      (one, other) =>
        other.prefix.length - one.prefix.length || Number(other.provider !== '') - Number(one.provider !== ''),
    )
  }

  find(provider: string, model: string): PriceRow | null {
    if (this.#exact.size === 0 && this.#patterns.length === 0) return null
    const exact = this.#exact.get(keyOf(provider, model)) ?? this.#exact.get(keyOf('', model))
    if (exact !== undefined) return exact
    const matches = (pattern: { provider: string; prefix: string }): boolean =>
      (pattern.provider === '' || pattern.provider === provider) && model.startsWith(pattern.prefix)
    return this.#patterns.find(matches)?.row ?? null
  }
}

/** The length separates provider and model, so that no two pairs have the same key. */
function keyOf(provider: string, model: string): string {
  return `${provider.length}:${provider}${model}`
}

function rowOf({ provider, model, rates = {}, perCall, units = {}, tiers }: ModelPriceConfig, table: string): PriceRow {
  const own: Partial<Record<TokenClass, Rate>> = {}
  for (const kind of TOKEN_CLASSES) {
    const steps = tiers.flatMap(({ contextOver, rates: replaced }) => {
      const rate = replaced[kind]
      return rate === undefined ? [] : [{ over: contextOver, rate }]
    })
    // A class that only long prompts have a rate for is billed as its whole otherwise.
    const base = rates[kind] ?? (steps.length === 0 ? undefined : wholeOf(rates, kind))
    if (base !== undefined) own[kind] = { base, steps: steps.toSorted((one, other) => one.over - other.over) }
  }
  const name = provider === undefined ? model : `${provider}/${model}`
  return { name, table, rates: own, units: pricesOf(units), perCall: perCall ?? null }
}

function pricesOf(units: NonNullable<ModelPriceConfig['units']>): PriceRow['units'] {
  const own: Partial<Record<Unit, number>> = {}
  for (const unit of Object.keys(UNITS) as Unit[]) {
    const price = units[unit]
    if (price !== undefined) own[unit] = price
  }
  return own
}

function wholeOf(rates: NonNullable<ModelPriceConfig['rates']>, name: TokenClass): number | undefined {
  return name === 'output' || name === 'reasoning' || name === 'outputAudio' ? rates.output : rates.input
}
