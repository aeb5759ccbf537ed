import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { UsageGroup } from '@portico/gateway/admin-api'
import { csvField } from '../usage/csv-field.ts'
import { printNanos, readNanos } from './amounts.ts'
import { comparableModel, compare } from './compare.ts'
import { readInvoice } from './invoice.ts'
import { readCsv } from './read-csv.ts'

const OPENAI_COSTS =
  'start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,line_item,project_id,organization_id,organization_name'
const OPENAI_USAGE =
  'start_time,end_time,start_time_iso,end_time_iso,project_id,num_model_requests,user_id,api_key_id,model,batch,service_tier,input_tokens,output_tokens,input_cached_tokens'
const ANTHROPIC_COSTS =
  'usage_date_utc,model,workspace,api_key,usage_type,context_window,token_type,cost_usd,list_price_usd,cost_type,inference_geo,speed'
const ANTHROPIC_USAGE =
  'usage_date_utc,model_version,api_key,workspace,usage_type,context_window,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,web_search_count,inference_geo,speed'

const invoiceOf = (head: string, ...rows: string[]) => {
  const invoice = readInvoice([head, ...rows].join('\r\n'))
  return typeof invoice === 'string' ? assert.fail(invoice) : invoice
}

function groupOf(model: string, fields: Partial<UsageGroup> = {}, provider = 'openai', day = '2026-11-17'): UsageGroup {
  return {
    ...{
      group: { day, provider, model },
      calls: 1,
      unpricedCalls: 0,
      estimatedCalls: 0,
      cachedCalls: 0,
      inputTokens: 0,
    },
    ...{
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
      costUsd: null,
      savedUsd: '0.00',
    },
    ...fields,
  }
}

describe('CSV', () => {
  test('is read as it was written, whatever the fields and line ends', () => {
    const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', '≤') })
    const rows = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { maxLength: 5 })
    fc.assert(
      fc.property(rows, fc.constantFrom('\n', '\r\n'), fc.boolean(), (written, end, hasEnd) => {
        const text = written.map((row) => row.map(csvField).join()).join(end) + (hasEnd ? end : '')
        const read = readCsv(text)
        assert.deepEqual(typeof read === 'string' ? read : read.map(({ fields }) => fields), written)
      }),
    )
  })

  test('is read, or has a problem with a line', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', '\uFEFF') }), (text) => {
        const read = readCsv(text)
        assert.ok(typeof read !== 'string' || /^line \d+: /.test(read))
      }),
    )
    assert.deepEqual(readCsv('\uFEFFa,b\n\n"x\ny",z\nc,d'), [
      { line: 1, fields: ['a', 'b'] },
      { line: 3, fields: ['x\ny', 'z'] },
      { line: 5, fields: ['c', 'd'] },
    ])
    assert.equal(readCsv('a\nb,"c'), 'line 2: a quote is not closed')
    assert.equal(readCsv('"a"b'), 'line 1: found "b" after a closing quote')
  })
})

describe('amounts', () => {
  test('are read exactly, and printed so that they can be read again', () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 20n), 10n ** 20n), (nanos) => {
        assert.equal(readNanos(printNanos(nanos)), nanos)
      }),
    )
    const texts = [
      '0.8958740000000000',
      '1e-7',
      '2.5E3',
      '0.0000000005',
      '0.00000000049',
      '-0.01',
      '1,5',
      '',
      '$1',
      'NaN',
    ]
    assert.deepEqual(texts.map(readNanos), [
      895_874_000n,
      100n,
      2_500_000_000_000n,
      1n,
      0n,
      -10_000_000n,
      null,
      null,
      null,
      null,
    ])
  })
})

describe('an invoice', () => {
  test('has the costs of OpenAI by line item, and days without costs', () => {
    const { name, lines } = invoiceOf(
      OPENAI_COSTS,
      '1763337600,1763424000,2026-11-17T00:00:00+00:00,2026-11-18T00:00:00+00:00,0.8958740000,usd,"gpt-5.5-2026-08-06, input",p,o,Personal',
      '1763424000,1763510400,2026-11-18T00:00:00+00:00,2026-11-19T00:00:00+00:00,,,,,,',
    )
    assert.equal(name, 'costs of OpenAI')
    assert.deepEqual(
      lines.map(({ day, model, amounts }) => [day, model, amounts.nanoDollars]),
      [['2026-11-17', 'gpt-5.5-2026-08-06', 895_874_000n]],
    )
  })

  test('has the usage of OpenAI, with numbers of any form', () => {
    const { lines } = invoiceOf(
      OPENAI_USAGE,
      '1,2,2026-11-17T00:10:00+00:00,2026-11-17T00:11:00+00:00,p,3.0,,k,gpt-5.5,,,4212,1673,128',
    )
    const [line] = lines
    assert.deepEqual(line, {
      ...{ day: '2026-11-17', model: 'gpt-5.5' },
      amounts: {
        ...{ calls: 3, inputTokens: 4212, outputTokens: 1673, cacheReadTokens: 128, cacheWriteTokens: null },
        nanoDollars: null,
      },
    })
  })

  test('has the usage of Anthropic, with caches as a part of the input, or its costs', () => {
    const usage = invoiceOf(
      ANTHROPIC_USAGE,
      '2026-11-17,claude-opus-5,key,Default,standard,≤ 200k,46981,15969,1,30,16932,0,global,',
    )
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage.lines[0]?.amounts ?? assert.fail()
    assert.deepEqual([inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens], [62_981, 16_932, 30, 15_970])
    const costs = invoiceOf(
      ANTHROPIC_COSTS,
      '2026-11-17,Claude Opus 5,Default,key,message,≤ 200k,output,0.19,0.19,token,global,',
    )
    assert.deepEqual([costs.provider, costs.lines[0]?.amounts.nanoDollars], ['anthropic', 190_000_000n])
  })

  test('that is not as expected has a problem with its line', () => {
    const cost = '2026-11-17,Claude Opus 5,w,k,m,c,output,0.19,0.19,token,global,'
    const problems = [
      ['', 'the file is empty'],
      [
        'date,cost\n1,2',
        'line 1: the columns are those of no known export; known are the costs of OpenAI (start_time_iso',
      ],
      [
        `${ANTHROPIC_COSTS},discount\n${cost},1`,
        'line 1: unknown column "discount" in an export of the costs of Anthropic',
      ],
      [`${ANTHROPIC_COSTS},model\n${cost},1`, 'line 1: a column occurs twice'],
      [`${ANTHROPIC_COSTS}\n${cost}\n${cost},1`, 'line 3: found 13 fields, expected 12'],
      [
        `${ANTHROPIC_COSTS}\n${cost.replace('0.19', 'free')}`,
        'line 2: cost_usd: found "free", expected a decimal number',
      ],
      [`${ANTHROPIC_COSTS}\n${cost.replace('2026-11-17', '17.11.2026')}`, 'line 2: usage_date_utc: found "17.11.2026"'],
      [`${ANTHROPIC_COSTS}\n${cost.replace('2026-11-17', '2026-13-17')}`, 'line 2: usage_date_utc: found "2026-13-17"'],
      [`${OPENAI_COSTS}\n1,2,2026-11-17,2026-11-18,1,eur,,,,`, 'line 2: amount_currency: found "eur", expected usd'],
      [
        `${OPENAI_USAGE}\n1,2,2026-11-17,x,p,-1,,k,m,,,1,1,1`,
        'line 2: num_model_requests: found "-1", expected a whole number',
      ],
    ]
    for (const [text = '', problem = ''] of problems) {
      const read = readInvoice(text)
      assert.ok(typeof read === 'string' && read.startsWith(problem), `${JSON.stringify(read)} for ${problem}`)
    }
  })

  test('is read or refused, whatever the text', () => {
    const text = fc.string({ unit: fc.constantFrom('2026-11-17', ',', '\n', '1', '-', '"', 'x', '') })
    fc.assert(
      fc.property(fc.constantFrom(OPENAI_COSTS, OPENAI_USAGE, ANTHROPIC_COSTS, ANTHROPIC_USAGE), text, (head, rest) => {
        const read = readInvoice(`${head}\n${rest}`)
        assert.ok(typeof read !== 'string' || /^line \d+: /.test(read))
      }),
    )
  })
})

describe('a comparison', () => {
  test('finds models under all of their names', () => {
    const same = [
      ['Claude Haiku 3.5', 'claude-3-5-haiku-20241022', 'claude-3-5-haiku-latest'],
      ['Claude Opus 4.1', 'claude-opus-4-1-20250805', 'claude-opus-4-1@20250805'],
      ['gpt-4o-2024-08-06', 'gpt-4o'],
    ]
    const forms = same.map((names) => new Set(names.map(comparableModel)).size)
    assert.deepEqual(forms, [1, 1, 1])
    assert.notEqual(comparableModel('gpt-4o'), comparableModel('gpt-4o-mini'))
    assert.notEqual(comparableModel('claude-opus-4-1'), comparableModel('claude-opus-4'))
  })

  const costs = (...rows: string[]) =>
    invoiceOf(OPENAI_COSTS, ...rows.map((row) => `1,2,2026-11-17T00:00:00Z,2026-11-18T00:00:00Z,${row},,,`))
  const shown = (comparison: ReturnType<typeof compare>) =>
    comparison.differences.map(({ model, invoice, ledger, unpricedCalls }) => [model, invoice, ledger, unpricedCalls])

  test('shows what differs, what one side lacks, and costs that the ledger does not know', () => {
    const invoice = costs(
      '1.00,usd,"same, input"',
      '2.00,usd,"same, output"',
      '5.00,usd,dear',
      '7.00,usd,billed',
      '1.00,usd,own',
    )
    const groups = [
      groupOf('same', { costUsd: '3.005' }),
      groupOf('dear', { costUsd: '4.00' }),
      groupOf('kept', { costUsd: '9.00' }),
      groupOf('own', { unpricedCalls: 2 }),
      groupOf('other', { costUsd: '99.00' }, 'anthropic'),
    ]
    const comparison = compare(invoice, groups, 0.005)
    assert.deepEqual(shown(comparison), [
      ['billed', 7_000_000_000n, null, 0],
      ['dear', 5_000_000_000n, 4_000_000_000n, 0],
      ['kept', null, 9_000_000_000n, 0],
      ['own', 1_000_000_000n, null, 2],
    ])
    assert.deepEqual(comparison.totals, [
      { measure: 'nanoDollars', invoice: 16_000_000_000n, ledger: 16_005_000_000n, unpricedCalls: 2 },
    ])
    assert.equal(comparison.compared, 5)
  })

  test('goes by day where the invoice names no models', () => {
    const groups = [groupOf('a', { costUsd: '1.00' }), groupOf('b', { costUsd: '2.00' })]
    assert.deepEqual(shown(compare(costs('3.00,usd,'), groups, 0)), [])
    assert.deepEqual(shown(compare(costs('4.00,usd,'), groups, 0)), [['', 4_000_000_000n, 3_000_000_000n, 0]])
  })

  test('has totals that are the sums of both sides, and no differences between equal sides', () => {
    const side = fc.uniqueArray(fc.record({ model: fc.constantFrom('a', 'b', 'c', 'd'), cents: fc.nat(1e6) }), {
      selector: ({ model }) => model,
      minLength: 1,
    })
    const usd = (cents: number): string => (cents / 100).toFixed(2)
    fc.assert(
      fc.property(side, side, (one, other) => {
        const invoice = costs(...one.map(({ model, cents }) => `${usd(cents)},usd,${model}`))
        const groups = other.map(({ model, cents }) => groupOf(model, { costUsd: usd(cents) }))
        const { differences, totals } = compare(invoice, groups, 0)
        const sum = (entries: typeof one): bigint =>
          BigInt(entries.reduce((all, { cents }) => all + cents, 0)) * 10_000_000n
        assert.deepEqual([totals[0]?.invoice, totals[0]?.ledger], [sum(one), sum(other)])
        const off = differences.reduce((all, each) => all + (each.ledger ?? 0n) - (each.invoice ?? 0n), 0n)
        assert.equal(off, sum(other) - sum(one))
        const same = compare(
          invoice,
          one.map(({ model, cents }) => groupOf(model, { costUsd: usd(cents) })),
          0,
        )
        assert.deepEqual(same.differences, [])
      }),
    )
  })
})
