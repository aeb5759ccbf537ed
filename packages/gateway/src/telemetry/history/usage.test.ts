import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { RecordedLlm } from '../recorder/record.ts'
import { PROMPT_SIZES, type UsageRow, type UsageSums } from './series-view.ts'
import { type UsedRecord, usageOf } from './usage.ts'

const NOW = 100_000_000

describe('the usage of tokens', () => {
  it('is summed up by provider, model, key and route, the most tokens first', () => {
    const rows = rowsOf([
      call({ outputTokens: 5 }),
      call({ cacheReadTokens: 4, cacheWriteTokens: 3, reasoningTokens: 2 }),
      call({}, { key: 'team-b' }),
      call({ providerName: 'spare', inputTokens: 1000 }),
      call({ responseModel: '' }),
    ])
    assert.deepEqual(
      rows.map(({ providerName, model, key, calls, input, output }) => [
        providerName,
        model,
        key,
        calls,
        input,
        output,
      ]),
      [
        ['spare', 'gpt-4o-2024-08-06', 'team-a', 1, 1000, 1],
        ['main', 'gpt-4o-2024-08-06', 'team-a', 2, 20, 6],
        ['main', 'gpt-4o-2024-08-06', 'team-b', 1, 10, 1],
        ['main', 'gpt-4o', 'team-a', 1, 10, 1],
      ],
    )
    const { cacheRead, cacheWrite, reasoning, backend, provider } = rows[1] ?? assert.fail()
    assert.deepEqual([cacheRead, cacheWrite, reasoning, backend, provider], [4, 3, 2, 'key/models', 'openai'])
  })

  it('tells what the gateway counted itself from what nobody told; refusals have told nothing either', () => {
    const nothing = { inputTokens: null, outputTokens: null }
    const [row] = rowsOf([
      call(),
      call({ isEstimated: true }),
      call(nothing),
      call(nothing, { status: 429 }),
      call(nothing, { status: 0 }),
    ])
    assert.deepEqual([row?.calls, row?.estimatedCalls, row?.silentCalls, row?.input], [5, 1, 1, 20])
  })

  it('has nothing of lists of models and counts of tokens, nor of what is older', () => {
    const nothing = { inputTokens: null, outputTokens: null, requestModel: '', responseModel: '' }
    assert.deepEqual(rowsOf([call({ ...nothing, operation: null }), call({ operation: 'count_tokens' })]), [])
    assert.deepEqual(rowsOf([call({}, { at: NOW - 16 * 60_000 }), call()]), [])
    assert.deepEqual(rowsOf([{ ...call(), llm: null }]), [])
  })

  it('has long prompts apart, and the parts are the whole', () => {
    const [row] = rowsOf([
      call({ inputTokens: 128_000 }),
      call({ inputTokens: 128_001 }),
      call({ inputTokens: 900_000 }),
    ])
    assert.deepEqual(
      row?.sizes.map(({ over, calls, input }) => [over, calls, input]),
      [
        [0, 1, 128_000],
        [128_000, 1, 128_001],
        [512_000, 1, 900_000],
      ],
    )
    const count = fc.option(fc.nat(1_000_000))
    fc.assert(
      fc.property(fc.array(fc.record({ inputTokens: count, outputTokens: count, cacheReadTokens: count })), (calls) => {
        for (const { sizes, ...whole } of rowsOf(calls.map((facts) => call(facts))))
          for (const field of ['calls', 'input', 'output', 'cacheRead'] satisfies (keyof UsageSums)[])
            assert.equal(
              sizes.reduce((sum, part) => sum + part[field], 0),
              whole[field],
            )
      }),
    )
    assert.deepEqual(
      PROMPT_SIZES.toSorted((a, b) => a - b),
      PROMPT_SIZES,
    )
  })
})

function rowsOf(records: readonly UsedRecord[]): readonly UsageRow[] {
  return usageOf({ range: '15m', now: NOW, completeSince: 0, records }).rows
}

function call(llm: Partial<RecordedLlm> = {}, rest: Partial<UsedRecord> = {}): UsedRecord {
  return {
    ...{ at: NOW - 1000, status: 200, key: 'team-a', route: 'chat' },
    keys: { listener: null, route: null, backend: 'key/models' },
    llm: {
      ...{ operation: 'chat', provider: 'openai', providerName: 'main', requestModel: 'gpt-4o' },
      ...{ responseModel: 'gpt-4o-2024-08-06', finishReason: 'stop', streaming: false },
      ...{ inputTokens: 10, outputTokens: 1, cacheReadTokens: null, cacheWriteTokens: null, reasoningTokens: null },
      ...{ isEstimated: false, timeToFirstToken: null, attempts: [] },
      ...llm,
    },
    ...rest,
  }
}
