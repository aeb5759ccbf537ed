import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Cost } from '../../records/cost.ts'
import { type AttemptCharge, LlmRecord } from '../../records/llm-record.ts'
import { ModelDetails } from './model-details.ts'
import { shortened } from './record-writer.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

const KNOWN: Cost = { kind: 'known', nanoDollars: 1_250, row: 'openai/"a"', table: 'config', basis: 'computed' }
const CHARGE: AttemptCharge = {
  ...{ operation: 'chat', provider: 'openai', requestModel: 'a', responseModel: 'a' },
  ...{ tokens: 3, costUsd: 0.5 },
}

test('details cached from one call do not change those of the next call', () => {
  const name = fc.oneof(fc.constantFrom('', 'a', 'b'), fc.string({ unit: anyCharacter, maxLength: 300 }))
  const count = fc.option(fc.nat(), { nil: undefined })
  const call = fc
    .record({
      operation: fc.constantFrom('chat', 'embeddings', null),
      provider: fc.constantFrom('openai', 'anthropic'),
      providerName: fc.constantFrom('', 'first'),
      requestModel: name,
      responseModel: name,
      finishReason: fc.constantFrom('', 'stop', 'a "b"'),
      streaming: fc.boolean(),
      usage: fc.record({ input: count, output: count, cacheRead: count, cacheWrite: count, reasoning: count }),
      isEstimated: fc.boolean(),
      firstTokenAt: fc.oneof(fc.constant(-1), fc.double({ min: 0, max: 1000, noNaN: true })),
      cost: fc.constantFrom<Cost | null>(null, { kind: 'unknown', why: 'no "price"' }, KNOWN),
      modelChoice: fc.constantFrom('', 'a → b'),
      charge: fc.constantFrom<AttemptCharge | null>(null, CHARGE),
      attempts: fc.array(fc.tuple(fc.constantFrom('', 'first'), fc.constantFrom('200', '503')), { maxLength: 3 }),
    })
    .map(({ attempts, cost, charge, ...fields }) => {
      const record = Object.assign(new LlmRecord(), { ...fields, pricer: cost === null ? null : () => cost })
      for (const [providerName, outcome] of attempts)
        record.attempts.push({ providerName, provider: 'openai', outcome, hasFailed: false, charge })
      return record
    })
  fc.assert(
    fc.property(fc.array(call, { minLength: 1, maxLength: 6 }), (calls) => {
      const details = new ModelDetails()
      for (const each of [...calls, ...calls.flatMap((one) => [one, one])]) {
        assert.equal(details.of(each, 1), JSON.stringify({ llm: each.details(1, shortened) }))
      }
    }),
    { numRuns: 300 },
  )
})
