import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'
import { calcPrice, findProvider } from '@pydantic/genai-prices'
import type { PROMPT_SIZES, RecordedLlm, SizedUsage, UsageRow } from '@portico/gateway/admin-api'
import * as fc from 'fast-check'
import { type Cost, costText, formatDollars, type PriceQuestion, sumCosts, type TokenUsage } from './cost.ts'
import { priceLlm } from './price-llm.ts'
import { priceCall, priceRow } from './price-table.ts'
import { PRICE_TABLE } from './table-date.ts'

const MOMENT = Date.parse('2026-11-16T12:00:00Z')
const NONE: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const MILLION = { ...NONE, input: 100_000, output: 10_000 }

describe('the price of a call', () => {
  test('is found for models as providers of the real world name them', () => {
    for (const [provider, model, at, entry] of REAL) {
      const cost = priceCall(priced(provider, model, at), MILLION)
      const found = cost.kind === 'known' ? `${cost.by[0]?.provider} ${cost.by[0]?.model}` : cost.why
      assert.equal(found, entry, `${provider} ${model} ${at}`)
    }
  })

  test('has cached tokens at their own price, and those of reasoning within the output', () => {
    const claude = priced('anthropic', 'claude-opus-4-1-20250805')
    assert.ok(isNear(priceCall(claude, MILLION), 0.1 * 15 + 0.01 * 75))
    assert.ok(isNear(priceCall(claude, { ...MILLION, cacheRead: 60_000 }), 0.04 * 15 + 0.06 * 1.5 + 0.01 * 75))
    assert.ok(isNear(priceCall(claude, { ...MILLION, cacheWrite: 60_000 }), 0.04 * 15 + 0.06 * 18.75 + 0.01 * 75))
    assert.ok(isNear(priceCall(claude, { ...MILLION, reasoning: 9000 }), 0.1 * 15 + 0.01 * 75))
  })

  test('is that of long prompts for long prompts alone', () => {
    const gemini = priced('gcp.gemini', 'gemini-2.5-pro')
    assert.ok(isNear(priceCall(gemini, { ...NONE, input: 200_000 }), 0.2 * 1.25))
    assert.ok(isNear(priceCall(gemini, { ...NONE, input: 300_000 }), 0.3 * 2.5))
  })

  test('says which entry it was computed by, and what to know of it', () => {
    const cost = priceCall(priced('openai', 'gpt-4o', '10.0.0.7:8000'), MILLION)
    assert.deepEqual(cost.kind === 'known' && [cost.by, cost.notes], [
      [{ provider: 'OpenAI', model: 'gpt-4o', rates: '$2.50 input, $1.25 cache read, $10 output' }],
      ['Called at 10.0.0.7:8000, priced as OpenAI itself'],
    ])
    const hourly = priceCall(priced('openai', 'deepseek-chat', 'api.deepseek.com:443'), MILLION)
    assert.deepEqual(hourly.kind === 'known' && hourly.notes, ['The price depends on the time of day'])
  })

  test('is unknown, and never zero, without an entry', () => {
    for (const [of, usage, why] of [
      [priced('mock', 'gpt-4o'), MILLION, 'No prices known for mock'],
      [priced('openai', 'gpt-99'), MILLION, 'No price known for gpt-99'],
      [priced('openai', ''), MILLION, 'No price known for openai'],
      [priced('openai', 'gpt-4o'), NONE, 'No tokens were reported'],
      [priced('openai', 'gpt-4o'), { ...MILLION, cacheRead: 200_000 }, 'The tokens of gpt-4o do not add up'],
      [priced('openai', 'gpt-4o'), { ...MILLION, input: NaN }, 'The tokens of gpt-4o do not add up'],
      [priced('openai', 'whisper-1'), MILLION, 'No token price known for whisper-1'],
    ] as const)
      assert.deepEqual(priceCall(of, usage), { kind: 'unknown', why })
  })

  test('is that of the second name when the first has none', () => {
    const cost = priceCall({ ...priced('azure', ''), models: ['my-deployment', 'gpt-4o'] }, MILLION)
    assert.equal(cost.kind, 'known')
  })

  test('is never negative, whatever the names and the numbers', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.constantFrom(...REAL.map(([provider]) => provider)), fc.string()),
        fc.oneof(fc.constantFrom(...REAL.map(([, model]) => model)), fc.string()),
        fc.oneof(fc.constant(''), fc.constant('openrouter.ai:443'), fc.string()),
        usages,
        (provider, model, at, usage) => {
          const cost = priceCall(priced(provider, model, at), usage)
          if (cost.kind === 'known') assert.ok(cost.dollars >= 0 && Number.isFinite(cost.dollars) && cost.by.length > 0)
          else assert.notEqual(cost.why, '')
        },
      ),
    )
  })
})

test('the cost that the gateway computed comes before that of the table', () => {
  const call = {
    provider: 'openai',
    requestModel: 'gpt-4o',
    responseModel: 'gpt-4o',
    inputTokens: 1000,
    outputTokens: 0,
  }
  const recorded = { ...call, cost: { ...KNOWN, nanoDollars: 7_000_000 } } as unknown as RecordedLlm
  assert.equal(costText(priceLlm({ priceCall, priceRow }, recorded, '', MOMENT)), '≈ $0.0070')
  const unknown = { ...call, cost: { kind: 'unknown', why: 'no price' } } as unknown as RecordedLlm
  assert.equal(costText(priceLlm({ priceCall, priceRow }, unknown, '', MOMENT)), '≈ $0.0025')
})

const KNOWN = { kind: 'known', row: 'gpt-4o', table: 'config', basis: 'computed' } as const

describe('the price of a row', () => {
  test('is the sum of its calls, where all are of one size', () => {
    fc.assert(
      fc.property(fc.array(usages, { minLength: 1, maxLength: 20 }), (calls) => {
        const each = sumCosts(calls.map((usage) => priceCall(priced('openai', 'gpt-4o'), usage)))
        const whole = priceRow(rowOf('openai', 'gpt-4o', [sized(0, calls)]), '', MOMENT)
        if (each.dollars === null) assert.equal(whole.kind, 'unknown')
        else assert.ok(isNear(whole, each.dollars))
      }),
    )
  })

  test('has long prompts at their own price, however many short ones stand beside them', () => {
    const short = Array.from({ length: 99 }, () => ({ ...NONE, input: 10_000 }))
    const row = rowOf('gcp.gemini', 'gemini-2.5-pro', [sized(0, short), sized(200_000, [{ ...NONE, input: 400_000 }])])
    assert.ok(isNear(priceRow(row, '', MOMENT), 0.99 * 1.25 + 0.4 * 2.5))
  })

  test('is unknown where one part of it is, or where no tokens are known', () => {
    assert.equal(priceRow(rowOf('openai', 'gpt-99', [sized(0, [MILLION])]), '', MOMENT).kind, 'unknown')
    assert.deepEqual(priceRow(rowOf('openai', 'gpt-4o', [sized(0, [NONE])]), '', MOMENT), {
      kind: 'unknown',
      why: 'No tokens were reported',
    })
  })

  test('sizes of prompts are told apart where prices of the table change', () => {
    const providers = ['openai', 'anthropic', 'google', 'aws', 'azure', 'openrouter', 'x-ai', 'github-copilot']
    const starts = providers.flatMap((providerId) =>
      [...JSON.stringify(findProvider({ providerId })).matchAll(/"start":(\d+)/g)].map(([, start]) => Number(start)),
    )
    const sizes: readonly (typeof PROMPT_SIZES)[number][] = [0, 128_000, 200_000, 272_000, 512_000]
    assert.ok(starts.length > 50)
    // Some say "from", some "above".
    for (const start of new Set(starts))
      assert.ok(
        sizes.some((size) => Math.abs(size - start) <= 1),
        String(start),
      )
  })
})

describe('several costs', () => {
  test('are what is known of them, and say what is not', () => {
    const known = (dollars: number, model: string): Cost => ({
      ...{ kind: 'known', dollars, notes: [] },
      by: [{ provider: 'OpenAI', model, rates: '' }],
    })
    const sum = sumCosts([known(1, 'a'), known(2, 'a'), { kind: 'unknown', why: 'x' }, { kind: 'unknown', why: 'x' }])
    assert.deepEqual([sum.dollars, sum.by.length, sum.unknown], [3, 1, ['x']])
    assert.deepEqual(
      [sum, sumCosts([known(0.02, 'a')]), sumCosts([{ kind: 'unknown', why: 'x' }]), sumCosts([])].map(costText),
      ['≥ $3.00', '≈ $0.0200', 'unknown', 'unknown'],
    )
    const little = known(0.000_01, 'a')
    assert.deepEqual(
      [sumCosts([little]), sumCosts([little, { kind: 'unknown', why: 'x' }]), sumCosts([known(0, 'a')])].map(costText),
      ['< $0.0001', '≥ $0', '≈ $0'],
    )
    assert.equal(sumCosts([{ kind: 'unknown', why: 'x' }]).dollars, null)
  })

  test('are the same in any order', () => {
    const cost: fc.Arbitrary<Cost> = fc.oneof(
      fc.record({ kind: fc.constant('unknown'), why: fc.constantFrom('x', 'y') }),
      fc.record({ kind: fc.constant('known'), dollars: fc.nat(1000), by: fc.constant([]), notes: fc.constant([]) }),
    )
    fc.assert(
      fc.property(fc.array(cost), fc.nat(20), (costs, cut) => {
        const [left, right] = [costs.slice(0, cut), costs.slice(cut)]
        const [all, ...parts] = [costs, left, right].map(sumCosts)
        assert.equal(
          all?.dollars ?? 0,
          parts.reduce((sum, part) => sum + (part.dollars ?? 0), 0),
        )
        assert.equal(
          all?.unknown.length === 0,
          parts.every(({ unknown }) => unknown.length === 0),
        )
      }),
    )
  })

  test('have as many digits as help, and little is not nothing', () => {
    assert.deepEqual([0, 0.000_004, 0.0123, 1.5, 1234.5].map(formatDollars), [
      '$0',
      '< $0.0001',
      '$0.0123',
      '$1.50',
      '$1,234.50',
    ])
  })
})

test('the table is the one whose date is shown, and fetches nothing by itself', () => {
  const path = createRequire(import.meta.url).resolve('@pydantic/genai-prices')
  const { version } = JSON.parse(readFileSync(new URL('../package.json', `file://${path}`), 'utf8')) as {
    version: string
  }
  assert.equal(PRICE_TABLE.version, version, 'another version has another date: write it down')
  const real = globalThis.fetch
  globalThis.fetch = () => assert.fail('prices are fetched')
  try {
    const found = calcPrice({ input_tokens: 1 }, 'gpt-4o', { providerId: 'openai' })
    assert.deepEqual([found?.provider.id, found?.auto_update_timestamp], ['openai', undefined])
  } finally {
    globalThis.fetch = real
  }
})

/** Provider, model, place, and the entry that has its price. */
const REAL: readonly (readonly [string, string, string, string])[] = [
  ['openai', 'gpt-4o-2024-08-06', '', 'OpenAI gpt-4o'],
  ['openai', 'gpt-4o-mini-2024-07-18', '', 'OpenAI gpt-4o-mini'],
  ['openai', 'o3-mini-2025-01-31', '', 'OpenAI o3-mini'],
  ['openai', 'ft:gpt-4o-mini-2024-07-18:acme::abc', '', 'OpenAI ft:gpt-4o-mini'],
  ['openai', 'llama3.2', '127.0.0.1:11434', 'No price known for llama3.2'],
  ['openai', 'my-gpt-4o', '10.0.0.1:80', 'No price known for my-gpt-4o'],
  ['openai', 'openai/gpt-4o', '10.0.0.1:80', 'No price known for openai/gpt-4o'],
  ['openai', 'meta-llama/llama-3.3-70b-instruct', 'openrouter.ai:443', 'OpenRouter meta-llama/llama-3.3-70b-instruct'],
  ['openai', 'llama-3.3-70b-versatile', 'api.groq.com:443', 'Groq llama-3.3-70b-versatile'],
  ['anthropic', 'claude-sonnet-4-5-20250929', '', 'Anthropic claude-sonnet-4-5'],
  ['anthropic', 'claude-unknown-9', '', 'No price known for claude-unknown-9'],
  ['gcp.gemini', 'gemini-2.5-pro', '', 'Google gemini-2.5-pro'],
  ['gcp.gemini', 'models/gemini-2.5-flash', '', 'Google gemini-2.5-flash'],
  ['gcp.vertex_ai', 'google/gemini-2.5-pro', '', 'Google gemini-2.5-pro'],
  ['gcp.vertex_ai', 'claude-sonnet-4-5@20250929', '', 'Google claude-sonnet-4-5'],
  [
    'aws.bedrock',
    'anthropic.claude-3-5-sonnet-20241022-v2:0',
    '',
    'AWS Bedrock regional.anthropic.claude-3-5-sonnet-20241022-v2:0',
  ],
  [
    'aws.bedrock',
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    '',
    'AWS Bedrock regional.anthropic.claude-sonnet-4-5-20250929-v1:0',
  ],
  [
    'aws.bedrock',
    'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    '',
    'AWS Bedrock regional.anthropic.claude-sonnet-4-5-20250929-v1:0',
  ],
  [
    'aws.bedrock',
    'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3',
    '',
    'No price known for arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3',
  ],
  ['azure', 'gpt-4o-2024-08-06', '', 'Microsoft Azure gpt-4o'],
  ['azure', 'gpt-4o-2024-08-06', 'acme.openai.azure.com:443', 'Microsoft Azure gpt-4o'],
  ['azure', 'my-deployment', '', 'No price known for my-deployment'],
  ['mock', 'mock', '', 'No prices known for mock'],
  ['constructor', 'gpt-4o', '', 'No prices known for constructor'],
]

/** Parts are never more than the whole, and prompts are short. */
const usages: fc.Arbitrary<TokenUsage> = fc
  .tuple(fc.nat(100_000), fc.nat(100_000), fc.nat(50), fc.nat(50), fc.nat(100))
  .map(([input, output, read, write, thought]) => ({
    input,
    output,
    cacheRead: Math.floor((input * read) / 100),
    cacheWrite: Math.floor((input * write) / 100),
    reasoning: Math.floor((output * thought) / 100),
  }))

function priced(provider: string, model: string, at = ''): PriceQuestion {
  return { provider, models: [model], at, moment: MOMENT }
}

function sized(over: number, calls: readonly TokenUsage[]): SizedUsage {
  const sum = (field: keyof TokenUsage): number => calls.reduce((total, usage) => total + usage[field], 0)
  return {
    ...{ over, calls: calls.length, input: sum('input'), output: sum('output') },
    ...{ cacheRead: sum('cacheRead'), cacheWrite: sum('cacheWrite'), reasoning: sum('reasoning') },
  }
}

function rowOf(provider: string, model: string, sizes: readonly SizedUsage[]): UsageRow {
  const named = { provider, model, backend: null, providerName: '', route: null, key: null }
  return { ...named, ...NONE, calls: 0, estimatedCalls: 0, silentCalls: 0, sizes }
}

function isNear(cost: Cost, dollars: number): boolean {
  return cost.kind === 'known' && Math.abs(cost.dollars - dollars) <= 1e-9 * Math.max(1, dollars)
}
