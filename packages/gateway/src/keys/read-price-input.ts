import { type ModelPriceConfig, modelPrice } from '../schema/fields/prices.ts'
import { readEntry } from './read-key-input.ts'

/** A price with its name in the store, or the problem when the input is not a price. */
type PriceInput = { readonly name: string; readonly price: ModelPriceConfig } | { readonly problem: string }

/** Reads a price in the form of the config. */
export function readPrice(input: unknown): PriceInput {
  const read = readEntry(modelPrice(), input)
  if ('problem' in read) return read
  const { provider, model } = read.value
  const name = nameOf(provider, model)
  return typeof name === 'string' ? { name, price: read.value } : name
}

/** Reads the query parameters that name a price. */
export function readPriceName(query: URLSearchParams): string | { readonly problem: string } {
  const unknown = [...query.keys()].find((key) => key !== 'provider' && key !== 'model')
  if (unknown !== undefined)
    return { problem: `unknown parameter ${JSON.stringify(unknown)}, expected ?provider=, ?model=` }
  const model = query.get('model') ?? ''
  return model === '' ? { problem: 'model: expected the name of a model' } : nameOf(query.get('provider') ?? '', model)
}

/**
 * Returns the name of a price, `provider/model`. The first slash ends the provider, because models may have slashes and
 * providers may not.
 */
function nameOf(provider = '', model: string): string | { readonly problem: string } {
  if (provider === '*' || provider.includes('/')) return { problem: 'provider: expected a name such as `openai`' }
  const name = `${provider === '' ? '*' : provider}/${model}`
  return PLAIN.test(name) ? name : { problem: 'expected names without control characters' }
}

const PLAIN = /^[^\p{Cc}\p{Cs}]+$/u
