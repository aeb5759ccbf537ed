import { calcPrice, findProvider, type PriceCalculation } from '@pydantic/genai-prices'
import type { SizedUsage, UsageRow } from '@portico/gateway/admin-api'
import { type Cost, type PriceEntry, type Priced, sumCosts, type TokenUsage } from './cost.ts'
import { providerId, spellings } from './price-names.ts'
import { printRates } from './print-rates.ts'

/*
 * The only module that knows the table. It is large, so it is loaded when figures of cost are shown. The package can fetch a
 * newer one when it is told how: it never is, so that the date of the prices is the one that is shown.
 */

/** One call. */
export function priceCall(priced: Priced, usage: TokenUsage): Cost {
  if (usage.input === 0 && usage.output === 0) return { kind: 'unknown', why: 'no tokens were reported' }
  const vendor = vendorOf(priced)
  if (vendor === null) return { kind: 'unknown', why: `no prices known for ${priced.provider}` }
  const found = firstPrice(vendor, priced, usage)
  if (typeof found === 'string') return { kind: 'unknown', why: found }
  return { kind: 'known', dollars: found.total_price, by: [entryOf(found)], notes: notesOf(found, vendor, priced) }
}

/** All calls of a row. Of calls with prompts of one size class each costs what the average of them does. */
export function priceRow(row: UsageRow, at: string, moment: number): Cost {
  const priced = { provider: row.provider, models: [row.model], at, moment }
  const used = row.sizes.filter(({ input, output }) => input > 0 || output > 0)
  const costs = used.map((size) => times(priceCall(priced, averageOf(size)), size.calls))
  const { dollars, by, notes, unknown } = sumCosts(costs)
  const [why] = unknown
  if (dollars === null || why !== undefined) return { kind: 'unknown', why: why ?? 'no tokens were reported' }
  return { kind: 'known', dollars, by, notes }
}

interface Vendor {
  /** Of the table. */
  readonly id: string
  /** Somebody else may stand where its API is spoken. */
  readonly isElsewhere: boolean
}

/** A server that is known by its address has its own prices; any other that speaks as a provider does has, perhaps, that one's. */
function vendorOf({ provider, at }: Priced): Vendor | null {
  const id = providerId(provider)
  if (id === null || at === '') return id === null ? null : { id, isElsewhere: false }
  const known = findProvider({ providerApiUrl: `https://${at.replace(/:443$/, '')}/` })
  return known === undefined ? { id, isElsewhere: true } : { id: known.id, isElsewhere: false }
}

function firstPrice({ id, isElsewhere }: Vendor, { models, moment, provider }: Priced, usage: TokenUsage) {
  // Servers of one's own have names that only look like those of a provider.
  const names = isElsewhere ? models.filter((name) => name !== '') : models.flatMap(spellings)
  for (const name of names) {
    const found = calculated(id, name, moment, usage)
    if (found !== null) return found
  }
  return `no price known for ${names[0] ?? provider}`
}

function calculated(id: string, model: string, moment: number, usage: TokenUsage): PriceCalculation | string | null {
  const { input, output, cacheRead, cacheWrite, reasoning } = usage
  const tokens = {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    output_reasoning_tokens: reasoning,
  }
  try {
    const found = calcPrice(tokens, model, { providerId: id, timestamp: new Date(moment) })
    return found === null || pricesAll(found, usage) ? found : `no price of tokens known for ${model}`
  } catch {
    // More of the cache than there was of the input, for one.
    return `the tokens of ${model} do not add up`
  }
}

/** What is billed by the hour or by the picture has no price for tokens. */
function pricesAll({ model_price: price }: PriceCalculation, { input, output }: TokenUsage): boolean {
  return (input === 0 || 'input_mtok' in price) && (output === 0 || 'output_mtok' in price)
}

function entryOf({ provider, model, model_price: price }: PriceCalculation): PriceEntry {
  return { provider: provider.name, model: model.id, rates: printRates(price) }
}

function notesOf(
  { provider, model, model_price: price }: PriceCalculation,
  { isElsewhere }: Vendor,
  { at }: Priced,
): string[] {
  const isByHour =
    Array.isArray(model.prices) && model.prices.some(({ constraint }) => constraint?.type === 'time_of_date')
  return [
    ...(isElsewhere ? [`asked at ${at}, priced as ${provider.name} itself`] : []),
    ...(isByHour ? ['its price depends on the time of day'] : []),
    ...('input_audio_mtok' in price ? ['audio is priced as text'] : []),
  ]
}

function averageOf({ calls, input, output, cacheRead, cacheWrite, reasoning }: SizedUsage): TokenUsage {
  const each = (sum: number): number => sum / calls
  return {
    input: each(input),
    output: each(output),
    cacheRead: each(cacheRead),
    cacheWrite: each(cacheWrite),
    reasoning: each(reasoning),
  }
}

function times(cost: Cost, calls: number): Cost {
  return cost.kind === 'unknown' ? cost : { ...cost, dollars: cost.dollars * calls }
}
