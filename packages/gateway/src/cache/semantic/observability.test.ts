import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { explain } from '../../explain/explain.ts'
import { LedgerFeed } from '../../ledger/ledger-feed.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import { loadConfig } from '../../sources/file.ts'
import { printProblem } from '../../sources/print-problems.ts'
import type { LedgerEntry } from '../../stores/store.ts'
import { cacheOf, sendChat, textOf } from '../testing/scene.ts'
import { inputOf, setUpSemantic } from './testing/scene.ts'

describe('the search for a similar request', () => {
  test('shows the neighbor of a hit and of a near miss in record, trace and explanation', async (t) => {
    const { say, gateway, config } = await setUpSemantic(t)
    await say('one')
    const traced = gateway.trace()
    await say('two!')
    await say('three!!!!')
    await say(`four${'!'.repeat(18)}`)
    await gateway.finished(4)
    const [far, near, hit, first] = gateway.recorded()
    assert.ok(first && hit && near && far)
    assert.deepEqual(hit.llm?.cache?.search, {
      ...{ similarity: 0.9961, neighbor: first.id },
      charges: [
        {
          ...{ operation: 'embeddings', provider: 'openai', requestModel: 'embed-test', responseModel: 'embed-test' },
          ...{ tokens: 100, costUsd: 0.01 },
        },
      ],
    })
    const { similarity, neighbor } = near.llm?.cache?.search ?? {}
    assert.deepEqual([near.llm?.cache?.status, similarity, neighbor], ['miss', 0.9396, first.id])
    assert.equal(far.llm?.cache?.search?.neighbor, undefined)
    const events = (await traced).filter(({ message }) => message.type === 'llmCache')
    assert.deepEqual(
      events.map(({ message }) => message),
      [
        {
          ...{ type: 'llmCache', provider: 'openai', status: 'hit', ageSeconds: 0, reason: null },
          ...{ similarity: 0.9961, neighbor: first.id },
        },
      ],
    )
    const loaded = loadConfig(JSON.stringify(config), { file: 'c.yaml', dir: '.', env: {} })
    assert.ok(loaded.ok)
    const explained = [hit, near, far].map((record) => {
      const { values } = explain(record, {
        isKnown: true,
        isEarlier: false,
        live: 1,
        ir: loaded.ir,
        locate: () => null,
      })
      return values.find(({ name }) => name === 'llm.cache')?.value
    })
    assert.deepEqual(explained, [
      `hit, 0 s old, similarity 0.9961 to ${first.id}`,
      `miss, nearest with similarity 0.9396 to ${first.id}`,
      'miss, no similar request',
    ])
    assert.match(
      gateway.metrics(),
      /portico_callout_duration_seconds_count\{kind="Embeddings",outcome="answered"\} 4\n/,
    )
  })

  test('is charged to the request: in ledger, log, metrics and budgets', async (t) => {
    const entries: LedgerEntry[] = []
    let flush = (): void => {}
    const budget = { budget: { limits: [{ name: 'team', usd: 0.25, per: 'Day' }] } }
    const { say, gateway, line } = await setUpSemantic(t, {
      policies: budget,
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
    // A call costs 10 cents, an embedding 1.
    await say('one', { max_tokens: 10 })
    await say('two', { max_tokens: 10 })
    await gateway.finished(2)
    flush()
    assert.deepEqual(
      entries.map(({ cache, nanoDollars, savedNanoDollars, attempts }) => [
        ...[cache, nanoDollars, savedNanoDollars, attempts],
      ]),
      [
        ['miss', 110_000_000, null, 1],
        ['hit', 10_000_000, 100_000_000, 0],
      ],
    )
    assert.deepEqual([line(-2)['portico.ai.cost_usd'], line(-1)['portico.ai.cost_usd']], [0.11, 0.01])
    const costs = [...gateway.metrics().matchAll(/portico_llm_cost_usd_total\{([^}]*)\} (.*)\n/g)]
    const costOf = (model: string) => costs.find(([, labels]) => labels?.includes(`"${model}"`))?.[2]
    assert.deepEqual([costOf('gpt-test'), costOf('embed-test')], ['0.1', '0.02'])
    // 13 cents are left: enough for another call, and then for none.
    assert.equal((await say('three!!!!!!!!!', { max_tokens: 10 })).status, 200)
    const hits = [await say('four', { max_tokens: 10 }), await say('five', { max_tokens: 10 })]
    assert.deepEqual(
      hits.map(({ status }) => status),
      [200, 200],
    )
    const refused = await say('six', { max_tokens: 10 })
    assert.equal(refused.status, 429)
  })
})

describe('guards', () => {
  const guard = (phase: string) => ({ [phase]: [{ regex: { action: 'Mask', matches: ['secret-[a-z]+'] } }] })

  test('mask the text before its embedding is asked for, and run on the answer of a neighbor', async (t) => {
    const { say, embedded } = await setUpSemantic(t, {
      ai: { promptGuard: { ...guard('request'), ...guard('response') } },
      handler: (_seen, response) => sendChat(response, 'the secret-answer'),
    })
    await say('my secret-word')
    const answer = await say('your secret-word')
    assert.match(cacheOf(answer) ?? '', /similarity=1/)
    assert.doesNotMatch(textOf(answer), /secret/)
    assert.equal(embedded.length, 2)
    assert.ok(embedded.every((seen) => !inputOf(seen).includes('secret')))
  })
})

describe('the memory of a cache', () => {
  test('compares with no more than `maxEntries` answers', async (t) => {
    const { say, gateway } = await setUpSemantic(t, { semantic: { maxEntries: 2, threshold: 0.999 } })
    await say('one')
    await say('two!!!')
    assert.match(cacheOf(await say('one again')) ?? '', /similarity=1/)
    await say('three!!!!!!')
    assert.match(cacheOf(await say('uno')) ?? '', /similarity=1/)
    assert.equal(cacheOf(await say('due!!!')), 'miss', 'the least recently used one has gone')
    assert.match(gateway.metrics(), /portico_llm_cache_entries 2\n/)
  })
})

test('embeddings come from an `ai` backend with a name', () => {
  const problemsOf = (backend: object): string[] => {
    const cache = { ttl: '1m', semantic: { embeddings: { backendRef: { name: 'other' }, model: 'm' } } }
    const routes = [{ backends: [{ ai: { provider: { openai: {} } }, policies: { ai: { cache } } }] }]
    const config = { backends: [backend], binds: [{ port: 1, listeners: [{ routes }] }] }
    const loaded = loadConfig(JSON.stringify(config), { file: 'c.yaml', dir: '.', env: {} })
    return loaded.ok ? [] : loaded.problems.map(printProblem)
  }
  assert.deepEqual(problemsOf({ name: 'other', ai: { provider: { openai: {} } } }), [])
  assert.match(
    problemsOf({ name: 'other', static: { host: 'a', port: 1 } }).join(),
    /found the backend `other`, which has no language models, expected the name of an `ai` backend/,
  )
  assert.match(
    problemsOf({ name: 'another', ai: { provider: { openai: {} } } }).join(),
    /found no backend named `other`/,
  )
})
