import type { Cost } from '../records/cost.ts'
import type { PricedCall, Pricer } from '../records/llm-record.ts'
import type { ModelPriceConfig } from '../schema/fields/prices.ts'
import { bundledRow } from './bundled-table.ts'
import { PriceList } from './price-list.ts'
import { countsFor, type PriceRow, priceUsage } from './price-row.ts'
import { storedPrices } from './stored-prices.ts'

/** The config of the `prices` policy. */
export interface PriceSettings {
  readonly models: readonly ModelPriceConfig[]
  readonly file?: readonly ModelPriceConfig[] | undefined
  readonly table: 'Bundled' | 'None'
}

/** The provider whose calls are priced. */
export interface PricedProvider {
  /** The name of the provider in telemetry. */
  readonly provider: string
  /** `host:port` when the config names another address than the provider's own; otherwise empty. */
  readonly at: string
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Finds the row of a model that has several names, the surest first; null without a price. */
type RowFinder = (names: readonly string[]) => PriceRow | null

/**
 * Creates the function that prices the calls to one provider. `table` holds the prices of the store; null when the
 * gateway has no such store. Prices of the store take precedence over those of the config. While the store cannot be
 * read, every price is unknown, because a price of the config may be wrong.
 */
export function createPricer(
  settings: PriceSettings,
  provider: PricedProvider,
  table: SharedArrayBuffer | null = null,
): Pricer {
  const findRow = createRowFinder(settings, provider)
  const stored = table === null ? null : storedPrices(table)
  return (call) => {
    const names = [call.responseModel, call.requestModel].filter((name) => name !== '')
    const list = stored === null ? null : stored.list
    if (stored !== null && list === null) return { kind: 'unknown', why: 'the prices of the store cannot be read' }
    const row = findIn(list, provider.provider, names) ?? findRow(names)
    if (row === null) return { kind: 'unknown', why: `no price for ${names[0] ?? 'a call without a model'}` }
    return costBy(row, call)
  }
}

function findIn(list: PriceList | null, provider: string, names: readonly string[]): PriceRow | null {
  for (const name of names) {
    const row = list?.find(provider, name) ?? null
    if (row !== null) return row
  }
  return null
}

/** Creates the function that finds the prices of the models of one provider. */
export function createRowFinder(
  { models, file = [], table }: PriceSettings,
  { provider, at, now }: PricedProvider,
): RowFinder {
  const lists = [new PriceList(models, 'config'), new PriceList(file, 'file')]
  const bundled = new Map<string, { readonly row: PriceRow | null; readonly until: number }>()

  /** Lists come in order of precedence, and the model that the provider reports comes before the requested one. */
  return (names) => {
    for (const list of lists) {
      const row = findIn(list, provider, names)
      if (row !== null) return row
    }
    if (table === 'None') return null
    for (const name of names) {
      const row = bundledOf(name)
      if (row !== null) return row
    }
    return null
  }

  /** Rows of the bundled table are kept for a minute: the search is slow, and some prices depend on the time of day. */
  function bundledOf(model: string): PriceRow | null {
    const moment = now()
    const known = bundled.get(model)
    if (known !== undefined && moment < known.until) return known.row
    // Clients choose the names of models.
    if (bundled.size >= MOST_MODELS) bundled.clear()
    const row = bundledRow({ provider, at, moment }, model)
    bundled.set(model, { row, until: moment + KEPT_MS })
    return row
  }
}

const MOST_MODELS = 1_000
const KEPT_MS = 60_000

function costBy(row: PriceRow, { usage, isEstimated }: PricedCall): Cost {
  if (!countsFor(row, usage)) {
    const hasUnits = Object.keys(row.units).length > 0
    return { kind: 'unknown', why: `the provider reported ${hasUnits ? 'nothing that its price counts' : 'no tokens'}` }
  }
  const nanoDollars = priceUsage(row, usage)
  if (nanoDollars === null) return { kind: 'unknown', why: `the tokens do not fit the price of ${row.name}` }
  const isPlainTier = usage.serviceTier === undefined || PLAIN_TIERS.has(usage.serviceTier)
  const { name, table } = row
  return { kind: 'known', nanoDollars, row: name, table, basis: isEstimated || !isPlainTier ? 'estimated' : 'computed' }
}

/** Service tiers at the usual price. */
const PLAIN_TIERS: ReadonlySet<string> = new Set(['default', 'standard', 'auto', 'on_demand'])
