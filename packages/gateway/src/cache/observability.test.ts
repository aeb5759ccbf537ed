import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { explain } from '../explain/explain.ts'
import { LedgerFeed } from '../ledger/ledger-feed.ts'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import type { LedgerEntry } from '../stores/store.ts'
import { loadConfig } from '../sources/file.ts'
import { cacheOf, setUp } from './testing/scene.ts'

const budget = { budget: { limits: [{ name: 'team', usd: 0.25, per: 'Day' }] } }

describe('an answer from the cache', () => {
  test('costs nothing and tells what it saved, in ledger, log, record, metrics, trace and explanation', async (t) => {
    const entries: LedgerEntry[] = []
    let flush = (): void => {}
    const { chat, gateway, line, config } = await setUp(t, {
      options: {
        ledger: (recorder, deadlines) => {
          const feed = new LedgerFeed<RequestContext>(recorder, {
            ...{ deadlines, journal: null },
            post: ({ entries: text }) => entries.push(...(JSON.parse(text) as LedgerEntry[])),
          })
          flush = () => feed.flush()
          return feed
        },
      },
    })
    await chat()
    const traced = gateway.trace()
    await chat()
    await gateway.finished(2)
    flush()
    assert.deepEqual(
      entries.map(({ cache, nanoDollars, savedNanoDollars, attempts, inputTokens, model, basis }) => {
        return { cache, nanoDollars, savedNanoDollars, attempts, inputTokens, model, basis }
      }),
      [
        {
          ...{ cache: 'miss', nanoDollars: 100_000_000, savedNanoDollars: null },
          ...{ attempts: 1, inputTokens: 1000, model: 'gpt-test', basis: 'computed' },
        },
        {
          ...{ cache: 'hit', nanoDollars: 0, savedNanoDollars: 100_000_000 },
          ...{ attempts: 0, inputTokens: null, model: 'gpt-test', basis: 'computed' },
        },
      ],
    )
    assert.deepEqual(
      [-2, -1].map((at) => [
        line(at)['portico.ai.cache'],
        line(at)['portico.ai.cost_usd'],
        line(at)['portico.ai.saved_usd'],
      ]),
      [
        ['miss', 0.1, undefined],
        ['hit', 0, 0.1],
      ],
    )
    const [hit, miss] = gateway.recorded()
    assert.deepEqual(miss?.llm?.cache, { status: 'miss' })
    const saved = { savedInputTokens: 1000, savedOutputTokens: 1000, savedNanoDollars: 100_000_000 }
    assert.deepEqual(hit?.llm?.cache, { status: 'hit', ageSeconds: 0, ...saved })
    assert.deepEqual([hit?.llm?.attempts, hit?.llm?.finishReason, hit?.llm?.inputTokens], [[], 'stop', null])
    const metrics = gateway.metrics()
    assert.match(metrics, /portico_llm_cache_requests_total\{outcome="hit".*\} 1\n/)
    assert.match(metrics, /portico_llm_cache_requests_total\{outcome="miss".*\} 1\n/)
    assert.match(metrics, /portico_llm_cache_saved_usd_total\{.*\} 0\.1\n/)
    assert.match(metrics, /portico_llm_cost_usd_total\{.*\} 0\.1\n/)
    const events = (await traced).filter(({ message }) => message.type === 'llmCache')
    assert.deepEqual(
      events.map(({ message }) => message),
      [{ type: 'llmCache', provider: 'openai', status: 'hit', ageSeconds: 0, reason: null }],
    )
    const loaded = loadConfig(JSON.stringify(config), { file: 'c.yaml', dir: '.', env: {} })
    assert.ok(hit !== undefined && loaded.ok)
    const explained = explain(hit, { isKnown: true, isEarlier: false, live: 1, ir: loaded.ir, locate: () => null })
    assert.match(explained.headline, /answered 200 \(from the response cache\)$/)
    assert.deepEqual(explained.values.find(({ name }) => name === 'llm.cache')?.value, 'hit, 0 s old')
  })

  test('takes nothing from budgets and token limits', async (t) => {
    const rateLimit = { rateLimit: { local: [{ tokens: 2_500, unit: 'Hours' }] } }
    const { chat, gateway } = await setUp(t, { policies: { ...budget, ...rateLimit } })
    // A call costs 10 of the 25 cents; more than 5 cents are reserved for each.
    const body = { max_tokens: 1000 }
    assert.equal((await chat(body)).status, 200)
    for (let i = 0; i < 5; i += 1) {
      const answer = await chat(body)
      assert.deepEqual([answer.status, cacheOf(answer)], [200, 'hit; age=0'])
    }
    const other = { messages: [{ role: 'user', content: 'another' }] }
    assert.equal((await chat({ ...body, ...other })).status, 200)
    // Twice 2,000 tokens are more than the limit.
    assert.equal((await chat(body)).status, 429)
    await gateway.finished(8)
  })

  test('is known to expressions of logs', async (t) => {
    const { chat, gateway, line } = await setUp(t, {
      frontend: { accessLog: { attributes: { add: [{ name: 'how', expression: 'llm.cacheStatus' }] } } },
    })
    for (const body of [{}, {}, { temperature: 1 }]) await chat(body)
    await gateway.finished(3)
    assert.deepEqual(
      [-3, -2, -1].map((at) => line(at)['how']),
      ['miss', 'hit', 'bypass'],
    )
    assert.deepEqual(gateway.recorded()[0]?.llm?.cache, { status: 'bypass', reason: 'temperature' })
  })
})
