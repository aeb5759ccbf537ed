import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'
import { calcPrice } from '@pydantic/genai-prices'
import type { Usage } from '@portico/chat'
import * as fc from 'fast-check'
import type { ModelPriceConfig } from '../schema/fields/prices.ts'
import { BUNDLED_TABLE, bundledRow } from './bundled-table.ts'
import { createPricer, type PriceSettings } from './create-pricer.ts'
import { PriceList } from './price-list.ts'
import { type PriceRow, priceUsage } from './price-row.ts'

const MOMENT = Date.parse('2026-11-16T12:00:00Z')
const OPENAI = { provider: 'openai', at: '', now: () => MOMENT }
const BUNDLED: PriceSettings = { models: [], table: 'Bundled' }

/** Counts that add up: cached tokens are part of the input, reasoning is part of the output. */
const usages = fc
  .tuple(fc.nat(400_000), fc.nat(400_000), fc.nat(400_000), fc.nat(50_000), fc.nat(50_000))
  .map(([fresh, cacheRead, cacheWrite, answer, reasoning]) => ({
    input: fresh + cacheRead + cacheWrite,
    output: answer + reasoning,
    ...{ cacheRead, cacheWrite, reasoning },
  }))

const call = (usage: Usage, more: object = {}) => ({
  ...{ requestModel: 'gpt-4o', responseModel: 'gpt-4o-2024-08-06', usage, isEstimated: false },
  ...more,
})

const row = (rates: Record<string, number>, perCall = 0): PriceRow => ({
  ...{ name: 'm', table: 'config', perCall, units: {} },
  rates: Object.fromEntries(Object.entries(rates).map(([name, base]) => [name, { base, steps: [] }])),
})

describe('the price of tokens', () => {
  test('agrees with the package of the table, to a billionth of a dollar', () => {
    const models = [
      ['openai', 'gpt-4o', 'openai'],
      ['openai', 'gpt-5', 'openai'],
      ['anthropic', 'claude-opus-4-1', 'anthropic'],
      ['gcp.gemini', 'gemini-2.5-pro', 'google'],
      ['aws.bedrock', 'anthropic.claude-sonnet-4-20250514-v1:0', 'aws'],
    ] as const
    for (const [provider, model, providerId] of models) {
      const found = bundledRow({ provider, at: '', moment: MOMENT }, model)
      assert.ok(found !== null, model)
      fc.assert(
        fc.property(usages, (usage) => {
          const { input, output, cacheRead, cacheWrite, reasoning } = usage
          const tokens = {
            input_tokens: input,
            output_tokens: output,
            cache_read_tokens: cacheRead,
            cache_write_tokens: cacheWrite,
            output_reasoning_tokens: reasoning,
          }
          const theirs = calcPrice(tokens, model, { providerId, timestamp: new Date(MOMENT) })?.total_price ?? NaN
          const ours = priceUsage(found, usage) ?? NaN
          assert.ok(Math.abs(ours / 1e9 - theirs) <= 2e-9, `${model}: ${ours / 1e9}, ${theirs}`)
        }),
      )
    }
  })

  test('has cached tokens at their own rate, whatever the share', () => {
    const rates = row({ input: 2_500_000, cacheRead: 1_250_000, output: 10_000_000 })
    assert.equal(priceUsage(rates, { input: 1000, cacheRead: 0, output: 0 }), 2_500_000)
    assert.equal(priceUsage(rates, { input: 1000, cacheRead: 1000, output: 0 }), 1_250_000)
    assert.equal(priceUsage(rates, { input: 1000, cacheWrite: 400, output: 10 }), 2_600_000, 'no rate of its own')
  })

  test('grows with every class of tokens, and is never negative', () => {
    const rates = row({ input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 }, 7)
    fc.assert(
      fc.property(usages, fc.nat(1000), (usage, more) => {
        const less = priceUsage(rates, usage) ?? NaN
        const grown = priceUsage(rates, { ...usage, output: usage.output + more }) ?? NaN
        assert.ok(less >= 0 && Number.isSafeInteger(less))
        assert.equal(grown - less, more * 15_000)
      }),
    )
  })

  test('is not known for counts that contradict each other, and never a wrong number', () => {
    const rates = row({ input: 1, output: 1, cacheRead: 1 })
    const counts = fc.oneof(
      fc.integer(),
      fc.double(),
      fc.constantFrom(NaN, Infinity, Number.MAX_SAFE_INTEGER, undefined),
    )
    fc.assert(
      fc.property(counts, counts, counts, (input, output, cacheRead) => {
        const usage = { input, output, cacheRead } as Usage
        const price = priceUsage(rates, usage)
        const isSane =
          [input, output, cacheRead].every(
            (count) => count === undefined || (Number.isSafeInteger(count) && count >= 0),
          ) && (cacheRead ?? 0) <= (input ?? 0)
        assert.equal(price !== null, isSane)
      }),
    )
  })

  test('counts units by their number, whatever tokens are reported', () => {
    const units = { image: 40_000_000_000, second: 100_000_000, character: 15_000_000, search: 2_000_000_000 }
    const priced = { ...row({}), perCall: null, units }
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(1e6), fc.nat(1e6), fc.nat(100), (images, characters, millis, searchUnits) => {
        const usage = { images, characters, seconds: millis / 1000, searchUnits, input: 7 }
        const expected = images * 40_000_000 + characters * 15_000 + millis * 100 + searchUnits * 2_000_000
        assert.equal(priceUsage(priced, usage), expected)
      }),
    )
    assert.equal(priceUsage(priced, { images: -1 }), null)
    assert.equal(priceUsage(priced, { seconds: NaN }), null)
  })

  test('is rounded up, so that a tiny price is not zero', () => {
    assert.equal(priceUsage(row({ input: 1 }), { input: 1 }), 1)
    assert.equal(priceUsage(row({ input: 0 }), { input: 5 }), 0, 'a model that is free')
  })
})

describe('the row of a call', () => {
  const price = (model: string, input: number, more: Partial<ModelPriceConfig> = {}): ModelPriceConfig => ({
    ...{ model, rates: { input, output: 0 }, tiers: [] },
    ...more,
  })
  const name = (list: PriceList, provider: string, model: string) => list.find(provider, model)?.rates.input?.base

  test('is the exact name, then the longest pattern, and its own provider first', () => {
    const rows = [price('*', 1), price('gpt-*', 2), price('gpt-4o', 3), price('gpt-4o', 4, { provider: 'azure' })]
    const list = new PriceList(rows, 'config')
    assert.equal(name(list, 'openai', 'gpt-4o'), 3)
    assert.equal(name(list, 'azure', 'gpt-4o'), 4)
    assert.equal(name(list, 'openai', 'gpt-4o-mini'), 2)
    assert.equal(name(list, 'openai', 'o3'), 1)
    assert.equal(name(new PriceList([price('a', 1)], 'config'), 'openai', 'b'), undefined)
  })

  test('comes from the config, then from the file, then from the bundled table', () => {
    const usage = { input: 1000, output: 0 }
    const file = [price('gpt-4o', 9_000_000)]
    const tables = [{ ...BUNDLED, models: [price('gpt-4o', 7_000_000)], file }, { ...BUNDLED, file }, BUNDLED].map(
      (settings) => {
        const cost = createPricer(settings, OPENAI)(call(usage))
        return cost.kind === 'known' ? [cost.nanoDollars, cost.row, cost.table] : cost.why
      },
    )
    assert.deepEqual(tables, [
      [7_000_000, 'gpt-4o', 'config'],
      [9_000_000, 'gpt-4o', 'file'],
      [2_500_000, 'openai/gpt-4o', BUNDLED_TABLE],
    ])
  })

  test('is unknown, never zero, for models and providers without a price', () => {
    const usage = { input: 1, output: 1 }
    const why = (settings: PriceSettings, provider: string, more: object = {}) => {
      const cost = createPricer(settings, { ...OPENAI, provider })(call(usage, more))
      return cost.kind === 'unknown' ? cost.why : cost
    }
    const unheardOf = { requestModel: 'gpt-99', responseModel: '' }
    assert.equal(why(BUNDLED, 'openai', unheardOf), 'no price for gpt-99')
    assert.equal(why(BUNDLED, 'mock'), 'no price for gpt-4o-2024-08-06')
    assert.equal(why({ ...BUNDLED, table: 'None' }, 'openai'), 'no price for gpt-4o-2024-08-06')
    assert.equal(why(BUNDLED, 'openai', { usage: {} }), 'the provider reported no tokens')
    const dall: ModelPriceConfig = { model: 'gpt-4o*', units: { image: 1 }, tiers: [] }
    const tokens = { usage: { input: 1, output: 1 } }
    assert.equal(
      why({ ...BUNDLED, models: [dall] }, 'openai', tokens),
      'the provider reported nothing that its price counts',
    )
    const flat: ModelPriceConfig = { model: 'gpt-4o*', perCall: 5, tiers: [] }
    assert.equal(why({ ...BUNDLED, models: [flat] }, 'openai', { usage: {} }), 'the provider reported no tokens')
    assert.equal(
      why(BUNDLED, 'openai', { usage: { input: 1, output: 0, cacheRead: 2 } }),
      'the tokens do not fit the price of openai/gpt-4o',
    )
    assert.equal(why(BUNDLED, 'openai', { requestModel: '', responseModel: '' }), 'no price for a call without a model')
  })

  test('follows the tiers of long prompts for all tokens of the call', () => {
    const tiers = [{ contextOver: 200_000, rates: { input: 2_000_000, cacheRead: 500_000 } }]
    const pricer = createPricer({ ...BUNDLED, models: [price('gpt-4o*', 1_000_000, { tiers })] }, OPENAI)
    const nanos = (usage: Usage) => {
      const cost = pricer(call(usage))
      return cost.kind === 'known' ? cost.nanoDollars : null
    }
    assert.equal(nanos({ input: 200_000, output: 0 }), 200_000_000)
    assert.equal(nanos({ input: 200_001, output: 0 }), 400_002_000)
    assert.equal(nanos({ input: 200_000, cacheRead: 200_000 }), 200_000_000)
    assert.equal(nanos({ input: 300_000, cacheRead: 300_000 }), 150_000_000)
  })

  test('says when it is an estimate', () => {
    const basis = (more: object) => {
      const cost = createPricer(BUNDLED, OPENAI)(call({ input: 1, output: 1, ...more }, more))
      return cost.kind === 'known' ? cost.basis : cost.why
    }
    assert.deepEqual([{}, { isEstimated: true }, { serviceTier: 'default' }, { serviceTier: 'flex' }].map(basis), [
      'computed',
      'estimated',
      'computed',
      'estimated',
    ])
  })
})

test('the version of the bundled table is that of the installed package', () => {
  const entry = createRequire(import.meta.url).resolve('@pydantic/genai-prices')
  const { version } = JSON.parse(readFileSync(new URL('../package.json', `file://${entry}`), 'utf8')) as {
    version: string
  }
  assert.equal(BUNDLED_TABLE, `@pydantic/genai-prices ${version}`)
})
