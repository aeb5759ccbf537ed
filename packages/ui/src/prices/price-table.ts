import { calcPrice, findProvider, type PriceCalculation } from '@pydantic/genai-prices'
import type { SizedUsage, UsageRow } from '@portico/gateway/admin-api'
import { type Cost, type PriceEntry, type PriceQuestion, sumCosts, type TokenUsage } from './cost.ts'
import { printRates } from './print-rates.ts'

/*
 * The only module that imports the price table. The table is large, so it is loaded when a page shows costs. The package
 * could fetch a newer table; it never does here, so that the date that pages show is the date of the prices.
 */

/** The cost of one call. */
export function priceCall(priced: PriceQuestion, usage: TokenUsage): Cost {
  if (usage.input === 0 && usage.output === 0) return { kind: 'unknown', why: 'No tokens were reported' }
  const vendor = vendorOf(priced)
  if (vendor === null) return { kind: 'unknown', why: `No prices known for ${priced.provider}` }
  const found = firstPrice(vendor, priced, usage)
  if (typeof found === 'string') return { kind: 'unknown', why: found }
  return { kind: 'known', dollars: found.total_price, by: [entryOf(found)], notes: notesOf(found, vendor, priced) }
}

/** The cost of all calls of a row. Calls with prompts of one size class are priced by their average. */
export function priceRow(row: UsageRow, at: string, moment: number): Cost {
  const priced = { provider: row.provider, models: [row.model], at, moment }
  const used = row.sizes.filter(({ input, output }) => input > 0 || output > 0)
  const costs = used.map((size) => times(priceCall(priced, averageOf(size)), size.calls))
  const { dollars, by, notes, unknown } = sumCosts(costs)
  const [why] = unknown
  if (dollars === null || why !== undefined) return { kind: 'unknown', why: why ?? 'No tokens were reported' }
  return { kind: 'known', dollars, by, notes }
}

interface Vendor {
  /** The id in the price table. */
  readonly id: string
  /** The address is not the provider's own, so the server may be somebody else's. */
  readonly isElsewhere: boolean
}

/** The vendor whose prices apply. An unknown address that speaks the API of a provider is priced as that provider. */
function vendorOf({ provider, at }: PriceQuestion): Vendor | null {
  const id = providerId(provider)
  if (id === null || at === '') return id === null ? null : { id, isElsewhere: false }
  const known = findProvider({ providerApiUrl: `https://${at.replace(/:443$/, '')}/` })
  return known === undefined ? { id, isElsewhere: true } : { id: known.id, isElsewhere: false }
}

function firstPrice({ id, isElsewhere }: Vendor, { models, moment, provider }: PriceQuestion, usage: TokenUsage) {
  // Self-hosted servers may use names that only look like those of a provider.
  const names = isElsewhere ? models.filter((name) => name !== '') : models.flatMap(spellings)
  for (const name of names) {
    const found = calculated(id, name, moment, usage)
    if (found !== null) return found
  }
  return `No price known for ${names[0] ?? provider}`
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
    return found === null || pricesAll(found, usage) ? found : `No token price known for ${model}`
  } catch {
    // For example, more tokens from the cache than input tokens.
    return `The tokens of ${model} do not add up`
  }
}

/** Whether the entry has prices for tokens: some models are billed by the hour or by the image. */
function pricesAll({ model_price: price }: PriceCalculation, { input, output }: TokenUsage): boolean {
  return (input === 0 || 'input_mtok' in price) && (output === 0 || 'output_mtok' in price)
}

function entryOf({ provider, model, model_price: price }: PriceCalculation): PriceEntry {
  return { provider: provider.name, model: model.id, rates: printRates(price) }
}

function notesOf(
  { provider, model, model_price: price }: PriceCalculation,
  { isElsewhere }: Vendor,
  { at }: PriceQuestion,
): string[] {
  const isByHour =
    Array.isArray(model.prices) && model.prices.some(({ constraint }) => constraint?.type === 'time_of_date')
  return [
    ...(isElsewhere ? [`Called at ${at}, priced as ${provider.name} itself`] : []),
    ...(isByHour ? ['The price depends on the time of day'] : []),
    ...('input_audio_mtok' in price ? ['Audio is priced as text'] : []),
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

/** Ids of providers in the price table, by their names in telemetry. A provider that is missing here has no prices. */
const PROVIDER_IDS: Readonly<Record<string, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  azure: 'azure',
  'aws.bedrock': 'aws',
  'gcp.gemini': 'google',
  'gcp.vertex_ai': 'google',
  baseten: 'baseten',
  cerebras: 'cerebras',
  cohere: 'cohere',
  deepseek: 'deepseek',
  fireworks: 'fireworks',
  groq: 'groq',
  mistral: 'mistral',
  moonshot: 'moonshotai',
  openrouter: 'openrouter',
  perplexity: 'perplexity',
  together: 'together',
  xai: 'x-ai',
  zai: 'zai',
}

function providerId(telemetryName: string): string | null {
  return Object.hasOwn(PROVIDER_IDS, telemetryName) ? (PROVIDER_IDS[telemetryName] ?? null) : null
}

/** The spellings of a model name: providers add a path before it, or a date after an `@`. */
function spellings(model: string): string[] {
  const last = model.slice(model.lastIndexOf('/') + 1)
  return [...new Set([model, last, last.replace('@', '-')])].filter((name) => name !== '')
}
