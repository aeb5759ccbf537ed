import { calcPrice, findProvider, type ModelPrice } from '@pydantic/genai-prices'
import type { PriceRow, Rate, TokenClass } from './price-row.ts'

/*
 * The price table that the gateway contains. The package could fetch a newer table; the gateway never lets it, so that the
 * version in each record is the version of the prices. A newer table comes with a release, or from a file.
 */

/** The version of the table, as records and logs name it. */
export const BUNDLED_TABLE = '@pydantic/genai-prices 0.1.8'

/** A model at a provider, whose price is looked up. */
interface PriceSubject {
  /** The name of the provider in telemetry, such as `aws.bedrock`. */
  readonly provider: string
  /** `host:port` when the config names another address than the provider's own; otherwise empty. */
  readonly at: string
  /** Milliseconds since 1970, because prices change. */
  readonly moment: number
}

/** The row of a model, or null. */
export function bundledRow({ provider, at, moment }: PriceSubject, model: string): PriceRow | null {
  const vendor = findVendor(provider, at)
  if (vendor === null) return null
  // Self-hosted servers may use names that only look like those of a provider.
  for (const name of vendor.isElsewhere ? [model] : spellings(model)) {
    const found = calcPrice({}, name, { providerId: vendor.id, timestamp: new Date(moment) })
    if (found === null) continue
    return {
      name: `${found.provider.id}/${found.model.id}`,
      table: BUNDLED_TABLE,
      rates: ratesOf(found.model_price),
      units: {},
      perCall: rateOf(found.model_price.requests_kcount, 1e9)?.base ?? null,
    }
  }
  return null
}

function ratesOf(price: ModelPrice): PriceRow['rates'] {
  const rates: Partial<Record<TokenClass, Rate>> = {}
  for (const [name, field] of FIELDS) {
    const rate = rateOf(price[field], 1e6)
    if (rate !== null) rates[name] = rate
  }
  return rates
}

const FIELDS = [
  ['input', 'input_mtok'],
  ['output', 'output_mtok'],
  ['cacheRead', 'cache_read_mtok'],
  ['cacheWrite', 'cache_write_mtok'],
  ['reasoning', 'output_reasoning_mtok'],
  ['inputAudio', 'input_audio_mtok'],
  ['outputAudio', 'output_audio_mtok'],
] as const satisfies readonly (readonly [TokenClass, string])[]

function rateOf(price: ModelPrice[string], unit: number): Rate | null {
  if (price === undefined) return null
  if (typeof price === 'number') return { base: Math.round(price * unit), steps: [] }
  const steps = price.tiers.map(({ start, price: each }) => ({ over: start, rate: Math.round(each * unit) }))
  return { base: Math.round(price.base * unit), steps: steps.toSorted((one, other) => one.over - other.over) }
}

/** A provider as the table knows it. */
interface Vendor {
  readonly id: string
  /** Whether the address is not the provider's own, so that the server may be somebody else's. */
  readonly isElsewhere: boolean
}

/** The vendor whose prices apply. An unknown address that speaks the API of a provider is priced as that provider. */
function findVendor(provider: string, at: string): Vendor | null {
  const id = PROVIDER_IDS.get(provider) ?? findProvider({ providerId: provider })?.id
  if (id === undefined) return null
  if (at === '') return { id, isElsewhere: false }
  const known = findProvider({ providerApiUrl: `https://${at.replace(/:443$/, '')}/` })
  return known === undefined ? { id, isElsewhere: true } : { id: known.id, isElsewhere: false }
}

/** Ids of providers in the table whose names in telemetry are others. */
const PROVIDER_IDS: ReadonlyMap<string, string> = new Map([
  ['openai', 'openai'],
  ['anthropic', 'anthropic'],
  ['azure', 'azure'],
  ['aws.bedrock', 'aws'],
  ['gcp.gemini', 'google'],
  ['gcp.vertex_ai', 'google'],
])

/** The spellings of a model name: providers add a path before it, or a date after an `@`. */
function spellings(model: string): string[] {
  const last = model.slice(model.lastIndexOf('/') + 1)
  return [...new Set([model, last, last.replace('@', '-')])].filter((name) => name !== '')
}
