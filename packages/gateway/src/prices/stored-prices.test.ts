import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { priceHash, priceText } from '../keys/table/entry-text.ts'
import { createKeyTable, FAILED, LOADING, OPEN, PRICE } from '../keys/table/key-table.ts'
import { KeyTableWriter } from '../keys/table/key-table-writer.ts'
import { PriceRegistry } from '../keys/price-registry.ts'
import type { ModelPriceConfig } from '../schema/fields/prices.ts'
import type { KeyStore, StoredPrice } from '../stores/key-store.ts'
import { createPricer, type PriceSettings } from './create-pricer.ts'

const AT = '2026-11-19T00:00:00.000Z'
const NOW = Date.parse(AT)
const usage = { input: 1000, output: 0 }
const price = (model: string, input: number, provider?: string): ModelPriceConfig => ({
  ...{ model, rates: { input, output: 0 }, tiers: [] },
  ...(provider !== undefined && { provider }),
})
const SETTINGS: PriceSettings = { models: [price('gpt-4o', 7_000_000)], table: 'Bundled' }

/** Creates a store that holds prices only. */
function storeIn(prices: Map<string, StoredPrice>): KeyStore {
  const never = (): never => assert.fail('the test is about prices')
  return {
    ...{ key: never, team: never, keys: never, teams: never, audit: never, close: never },
    prices: () => [...prices.values()],
    version: () => 0,
    commit(change) {
      if (change.kind !== 'price') return never()
      if (change.to === null) prices.delete(change.name)
      else prices.set(change.name, change.to)
    },
  }
}

function usePrices() {
  const buffer = createKeyTable(100)
  const writer = new KeyTableWriter(buffer, 100, LOADING)
  const registry = new PriceRegistry({ store: storeIn(new Map()), table: writer, now: () => NOW })
  const pricer = createPricer(SETTINGS, { provider: 'openai', at: '', now: () => NOW }, buffer)
  const cost = (model = 'gpt-4o') => {
    const found = pricer({ requestModel: model, responseModel: model, usage, isEstimated: false })
    return found.kind === 'known' ? [found.nanoDollars, found.row, found.table] : found.why
  }
  return { writer, registry, cost }
}

test('a price of the store takes precedence over the config, for the next call, until it is removed', async () => {
  const { registry, cost } = usePrices()
  await registry.load()
  assert.deepEqual(cost(), [7_000_000, 'gpt-4o', 'config'])
  await registry.change('openai/gpt-4o', price('gpt-4o', 1_000_000, 'openai'), 'a test')
  assert.deepEqual(cost(), [1_000_000, 'openai/gpt-4o', `store, changed ${AT}`])
  await registry.change('openai/gpt-4o', price('gpt-4o', 2_000_000, 'openai'), 'a test')
  assert.deepEqual(cost(), [2_000_000, 'openai/gpt-4o', `store, changed ${AT}`])
  await registry.change('openai/gpt-4o', null, 'a test')
  assert.deepEqual(cost(), [7_000_000, 'gpt-4o', 'config'])
  await assert.rejects(registry.change('openai/gpt-4o', null, 'a test'), /the store has no price for openai\/gpt-4o/)
})

test('a price of another provider or for other models changes nothing, and a pattern prices what it matches', async () => {
  const { registry, cost } = usePrices()
  await registry.load()
  await registry.change('azure/gpt-4o', price('gpt-4o', 1, 'azure'), 'a test')
  await registry.change('*/gpt-5*', price('gpt-5*', 3_000_000), 'a test')
  assert.deepEqual(cost(), [7_000_000, 'gpt-4o', 'config'])
  assert.deepEqual(cost('gpt-5-house'), [3_000_000, 'gpt-5*', `store, changed ${AT}`])
})

test('no price is known while the prices of the store are not', async () => {
  const { writer, registry, cost } = usePrices()
  assert.equal(cost(), 'the prices of the store cannot be read')
  await registry.load()
  assert.deepEqual(cost(), [7_000_000, 'gpt-4o', 'config'])
  writer.setState(FAILED)
  assert.deepEqual(cost(), [7_000_000, 'gpt-4o', 'config'], 'prices that are loaded stay')
  writer.clear(FAILED)
  assert.equal(cost(), 'the prices of the store cannot be read')
  await registry.load()
  assert.deepEqual(cost(), [7_000_000, 'gpt-4o', 'config'])
})

test('workers find exactly the prices that are set, whatever came before', () => {
  const command = fc.record({
    model: fc.constantFrom('a', 'b', 'ä/1', 'long'.repeat(40)),
    input: fc.option(fc.nat(1_000)),
    isFailing: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
      const { writer, registry, cost } = usePrices()
      registry.receive(new Map([['*/none', null]]))
      const model = new Map<string, number>()
      for (const { model: name, input, isFailing } of commands) {
        if (isFailing) {
          writer.clear(OPEN)
          for (const [each, rate] of model) {
            const stored = { name: `*/${each}`, price: price(each, rate * 1000), changed: AT }
            assert.ok(writer.put(PRICE, priceHash(stored.name), priceText(stored)))
          }
          writer.pricesChanged()
        }
        const stored = input === null ? null : { name: `*/${name}`, price: price(name, input * 1000), changed: AT }
        registry.receive(new Map([[`*/${name}`, stored]]))
        if (input === null) model.delete(name)
        else model.set(name, input)
        for (const each of ['a', 'b', 'ä/1', 'long'.repeat(40)]) {
          const rate = model.get(each)
          const expected = rate === undefined ? `no price for ${each}` : [rate * 1000, each, `store, changed ${AT}`]
          assert.deepEqual(cost(each), expected)
        }
      }
    }),
    { numRuns: 60 },
  )
})
