import { isObject } from '@portico/http/json'
import { list, object, Refusal, scalar } from '../kit.ts'
import { atLeastOneOf } from '../rules.ts'
import type { Output, Schema } from '../kit.ts'
import { integer, string } from './values.ts'

/** Prices of models: rows of the config, and files in the form of a cost catalog. */

/** A decimal with at most 6 fractional digits, so that the price of one token is a whole number of its unit. */
const pattern = /^\d{1,6}(\.\d{1,6})?$/
const expected = 'a decimal from 0 to 999999 with at most 6 fractional digits'

/** US dollars for a million tokens. The output is the price of one token, in trillionths of a US dollar. */
function rate(): Schema<number> {
  return scalar<number>(readRate, {
    type: 'decimal',
    expected,
    json: {
      anyOf: [
        { type: 'number', minimum: 0, maximum: 999_999 },
        { type: 'string', pattern: pattern.source },
      ],
    },
    // Custom resources write decimals as strings.
    crd: { type: 'string', maxLength: 13, pattern: pattern.source },
  })
}

function readRate(input: unknown): number | Refusal {
  if (typeof input !== 'number' && typeof input !== 'string') return new Refusal('wrong_type')
  return pattern.test(String(input)) ? Math.round(Number(input) * 1e6) : new Refusal('bad_format')
}

/** US dollars for one thing. The output is in trillionths of a US dollar. */
function unitPrice(): Schema<number> {
  return scalar<number>(readUnitPrice, {
    type: 'decimal',
    expected: UNIT_EXPECTED,
    json: {
      anyOf: [
        { type: 'number', minimum: 0, maximum: 999 },
        { type: 'string', pattern: UNIT_PATTERN.source },
      ],
    },
    crd: { type: 'string', maxLength: 13, pattern: UNIT_PATTERN.source },
  })
}

function readUnitPrice(input: unknown): number | Refusal {
  if (typeof input !== 'number' && typeof input !== 'string') return new Refusal('wrong_type')
  // Small numbers print with an exponent.
  const text = typeof input === 'number' && input < 1e-6 ? input.toFixed(9) : String(input)
  return UNIT_PATTERN.test(text) ? Math.round(Number(text) * 1e12) : new Refusal('bad_format')
}

const UNIT_PATTERN = /^\d{1,3}(\.\d{1,9})?$/
const UNIT_EXPECTED = 'a decimal from 0 to 999 with at most 9 fractional digits'

function units() {
  return object({
    image: unitPrice().optional().describe('An image that the provider made.'),
    character: unitPrice().optional().describe('A character of a text that the provider spoke.'),
    second: unitPrice().optional().describe('A second of sound that the provider read.'),
    search: unitPrice().optional().describe('A search: a rerank call with at most 100 documents, or a further 100.'),
  })
}

function rates() {
  return object({
    input: rate().optional().describe('Input tokens.'),
    output: rate().optional().describe('Output tokens.'),
    cacheRead: rate().optional().describe('Input tokens that the provider read from its cache.'),
    cacheWrite: rate().optional().describe('Input tokens that the provider wrote to its cache.'),
    reasoning: rate().optional().describe('Output tokens that are reasoning.'),
    inputAudio: rate().optional().describe('Input tokens that are audio.'),
    outputAudio: rate().optional().describe('Output tokens that are audio.'),
  })
}

/** The price of a model in the config. */
export function modelPrice() {
  return object(
    {
      provider: string({ min: 1, max: 64 })
        .optional()
        .describe('Name of the provider in telemetry, such as `openai` or `aws.bedrock`; any provider when unset.'),
      model: string({ min: 1, max: 256 }).describe(
        'Name of the model. A final `*` matches any characters. An exact name takes precedence, then the longest pattern.',
      ),
      rates: rates()
        .optional()
        .describe('US dollars for a million tokens, by class. A class without a rate is billed as input or output.'),
      perCall: rate().optional().describe('US dollars for a million calls, on top of tokens and units.'),
      units: units()
        .optional()
        .describe(
          'US dollars for one unit of models that are not, or not only, billed by tokens. Without `rates`, tokens cost nothing.',
        ),
      tiers: list(
        object({
          contextOver: integer({ min: 1, max: 1_000_000_000 }).describe('Number of input tokens.'),
          rates: rates().describe('Rates that replace those of the model.'),
        }).describe('Rates for long prompts.'),
        { max: 8, uniqueBy: 'contextOver' },
      )
        .prefault([])
        .describe('Rates of calls with more than `contextOver` input tokens; they apply to all tokens of the call.'),
    },
    [atLeastOneOf('rates', 'units', 'perCall')],
  )
}

export type ModelPriceConfig = Output<ReturnType<typeof modelPrice>>

type Rates = NonNullable<ModelPriceConfig['rates']>

/** Reads a cost catalog: `{"providers": {"openai": {"models": {"gpt-5.5": {"rates": {"input": "1.25"}}}}}}`. */
export function parsePriceCatalog(text: string): ModelPriceConfig[] | Refusal {
  const catalog = parseJson(text)
  if (!isObject(catalog) || !isObject(catalog.providers))
    return refuse('something else than an object with `providers`')
  const rows: ModelPriceConfig[] = []
  for (const [provider, value] of Object.entries(catalog.providers)) {
    const models = isObject(value) ? value.models : undefined
    if (!isObject(models)) return refuse(`no \`models\` at ${JSON.stringify(provider)}`)
    for (const [model, entry] of Object.entries(models)) {
      const row = readEntry(provider, model, entry)
      if (typeof row === 'string') return refuse(`${row} at ${JSON.stringify(`${provider}/${model}`)}`)
      rows.push(row)
    }
  }
  return rows.length > MAX_ROWS ? refuse(`${rows.length} models`) : rows
}

function readEntry(provider: string, model: string, entry: unknown): ModelPriceConfig | string {
  if (!isObject(entry)) return 'something else than an object'
  const own = entry.rates === undefined && entry.units !== undefined ? {} : readRates(entry.rates)
  if (typeof own === 'string') return own
  const perCall = entry.perCall === undefined ? undefined : readRate(entry.perCall)
  if (perCall instanceof Refusal) return 'an invalid `perCall`'
  const priced = readUnits(entry.units)
  if (typeof priced === 'string') return priced
  const tiers: ModelPriceConfig['tiers'] = []
  const listed = entry.tiers ?? []
  if (!Array.isArray(listed)) return '`tiers` that is not a list'
  for (const tier of listed as readonly unknown[]) {
    if (!isObject(tier) || typeof tier.contextOver !== 'number' || !Number.isSafeInteger(tier.contextOver)) {
      return 'a tier without `contextOver`'
    }
    const replaced = readRates(tier.rates)
    if (typeof replaced === 'string') return replaced
    tiers.push({ contextOver: tier.contextOver, rates: replaced })
  }
  return {
    ...{ provider, model, rates: own, tiers },
    ...(perCall !== undefined && { perCall }),
    ...(priced !== undefined && { units: priced }),
  }
}

function readUnits(value: unknown): ModelPriceConfig['units'] | string {
  if (value === undefined) return undefined
  if (!isObject(value)) return '`units` that is not an object'
  const own: Record<string, number> = {}
  for (const [name, price] of Object.entries(value)) {
    if (!UNITS.has(name)) return `an unknown unit ${JSON.stringify(name)}`
    const read = readUnitPrice(price)
    if (read instanceof Refusal) return `a price of ${JSON.stringify(name)} that is not ${UNIT_EXPECTED}`
    own[name] = read
  }
  return own
}

const UNITS = new Set(['image', 'character', 'second', 'search'])

function readRates(value: unknown): Rates | string {
  if (!isObject(value)) return 'no `rates`'
  const own: Record<string, number> = {}
  for (const [name, price] of Object.entries(value)) {
    if (!CLASSES.has(name)) return `an unknown class ${JSON.stringify(name)}`
    const read = readRate(price)
    if (read instanceof Refusal) return `a rate of ${JSON.stringify(name)} that is not ${expected}`
    own[name] = read
  }
  return own
}

const CLASSES = new Set(['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'inputAudio', 'outputAudio'])
const MAX_ROWS = 20_000

function refuse(detail: string): Refusal {
  return new Refusal('bad_format', { detail })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
