import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'

const documents = ['about cats', 'about dogs', 'about birds']
const ask = { model: 'rerank-x', query: 'dogs', documents, top_n: 2 }

const answering =
  (body: object, status = 200): OriginHandler =>
  (_seen, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

const cohere = {
  id: 'r-1',
  results: [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.2 },
  ],
  meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
}
const bedrock = {
  results: [
    { index: 1, relevanceScore: 0.9 },
    { index: 0, relevanceScore: 0.2 },
  ],
}
const vertex = { records: [{ id: '1', score: 0.9 }, { id: '0' }] }

interface Scene {
  handler: OriginHandler
  provider?: object
  policies?: object
  backend?: object
}

async function setUp(t: TestContext, { handler, provider = { openai: {} }, policies = {}, backend = {} }: Scene) {
  const origin = await useOrigin(t, handler)
  const target = { ...provider, host: '127.0.0.1', port: origin.port }
  const route = {
    policies: { ...policies, backend: { auth: { key: 'sk-ours' }, ...backend } },
    backends: [{ ai: { provider: target } }],
  }
  const gateway = await useGateway(t, httpConfig([route]), { logFormat: 'json' })
  t.after(() => assert.deepEqual(gateway.bugs, []))
  const post = (body: unknown, path = '/v2/rerank') =>
    request(gateway.port(), {
      method: 'POST',
      path,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const asked = (at = 0) => JSON.parse(origin.seen[at]?.body ?? '') as Record<string, unknown>
  return { origin, gateway, post, asked }
}

type Results = { results: { index: number; relevance_score: number; document?: unknown }[]; meta?: object }
const resultsOf = (body: string) =>
  (JSON.parse(body) as Results).results.map(({ index, relevance_score: score }) => [index, score])

describe('rerank', () => {
  test('passes unchanged to a server that speaks the format, and the tokens that Jina reports are counted', async (t) => {
    const jina = { model: 'jina-x', usage: { total_tokens: 12 }, results: cohere.results, more: 'kept' }
    const { origin, gateway, post } = await setUp(t, { handler: answering(jina) })
    const sent = '{"model":"rerank-x", "query":"dogs","documents":["a",{"text":"b"}],"odd":1}'
    const { status, body } = await post(sent, '/v1/rerank')
    assert.equal(status, 200)
    assert.deepEqual(JSON.parse(body), jina)
    assert.deepEqual([origin.seen[0]?.url, origin.seen[0]?.body], ['/v1/rerank', sent])
    await gateway.finished(1)
    const line = JSON.parse(gateway.lines[0] ?? '') as Record<string, unknown>
    assert.deepEqual(
      [line['gen_ai.operation.name'], line['gen_ai.request.model'], line['gen_ai.usage.input_tokens']],
      ['rerank', 'rerank-x', 12],
    )
  })

  test('has a path of its own at Cohere, and a Voyage client gets the members of Voyage', async (t) => {
    const { origin, asked, post } = await setUp(t, { handler: answering(cohere), provider: { cohere: {} } })
    const own = await post({ ...ask, max_tokens_per_doc: 100 })
    assert.deepEqual(resultsOf(own.body), [
      [1, 0.9],
      [0, 0.2],
    ])
    assert.deepEqual([origin.seen[0]?.url, asked()], ['/v2/rerank', { ...ask, max_tokens_per_doc: 100 }])
    const { top_n: _n, ...plain } = ask
    const voyage = await post({ ...plain, top_k: 2, truncation: true, return_documents: true }, '/v1/rerank')
    assert.deepEqual(JSON.parse(voyage.body), {
      object: 'list',
      data: [
        { index: 1, relevance_score: 0.9, document: 'about dogs' },
        { index: 0, relevance_score: 0.2, document: 'about cats' },
      ],
      model: 'rerank-x',
    })
    assert.deepEqual(asked(1), ask)
  })

  test('is translated for Bedrock, over as many responses as that takes', async (t) => {
    let turn = 0
    const { origin, gateway, asked, post } = await setUp(t, {
      handler: (...exchange) => {
        const [first, second] = bedrock.results
        const page = turn++ === 0 ? { results: [first], nextToken: 'more' } : { results: [second] }
        return answering(page)(...exchange)
      },
      provider: { bedrock: { region: 'us-west-2', model: 'cohere.rerank-v3-5:0' } },
    })
    const traced = gateway.trace()
    const { status, body } = await post({ ...ask, return_documents: true, priority: 3 })
    assert.equal(status, 200, body)
    assert.deepEqual((JSON.parse(body) as Results).results, [
      { index: 1, relevance_score: 0.9, document: { text: 'about dogs' } },
      { index: 0, relevance_score: 0.2, document: { text: 'about cats' } },
    ])
    assert.deepEqual((JSON.parse(body) as Results).meta, {
      api_version: { version: '2' },
      billed_units: { search_units: 1 },
    })
    assert.equal(origin.seen[0]?.url, '/rerank')
    const { queries, sources, rerankingConfiguration } = asked()
    assert.deepEqual(queries, [{ type: 'TEXT', textQuery: { text: 'dogs' } }])
    assert.equal((sources as unknown[]).length, 3)
    assert.deepEqual(rerankingConfiguration, {
      type: 'BEDROCK_RERANKING_MODEL',
      bedrockRerankingConfiguration: {
        modelConfiguration: { modelArn: 'arn:aws:bedrock:us-west-2::foundation-model/cohere.rerank-v3-5:0' },
        numberOfResults: 2,
      },
    })
    assert.equal(asked(1)['nextToken'], 'more')
    const [noted] = (await traced).filter(({ message }) => message.type === 'llmRequest')
    assert.deepEqual(
      [noted?.message['upstreamFormat'], noted?.message['losses']],
      ['rerank.bedrock', [{ what: 'dropped', path: 'priority' }]],
    )
  })

  test('is translated for Vertex AI, where a missing score is 0', async (t) => {
    const { origin, asked, post } = await setUp(t, {
      handler: answering(vertex),
      provider: { vertexai: { projectId: 'p', region: 'europe-west4' } },
    })
    const { status, body } = await post({ ...ask, documents: ['a', { title: 'T', text: 'b' }] })
    assert.equal(status, 200, body)
    assert.deepEqual(resultsOf(body), [
      [1, 0.9],
      [0, 0],
    ])
    assert.equal(origin.seen[0]?.url, '/v1/projects/p/locations/eu/rankingConfigs/default_ranking_config:rank')
    assert.deepEqual(asked(), {
      model: 'rerank-x',
      query: 'dogs',
      records: [
        { id: '0', content: 'a' },
        { id: '1', title: 'T', content: 'b' },
      ],
      topN: 2,
      ignoreRecordDetailsInResponse: true,
    })
  })

  test('is guarded: the query and each document', async (t) => {
    const ai = { promptGuard: { request: [{ regex: { builtins: ['Ssn'], action: 'Mask' } }] } }
    const { asked, post } = await setUp(t, { handler: answering(cohere), backend: { ai } })
    await post({ ...ask, query: '123-45-6789', documents: ['fine', { text: 'I am 123-45-6789', n: 1 }] })
    assert.deepEqual([asked()['query'], asked()['documents']], ['<SSN>', ['fine', { text: 'I am <SSN>', n: 1 }]])
  })

  test('costs by searches, in the log, the record and a budget', async (t) => {
    const prices = { models: [{ model: 'rerank-*', units: { search: 0.002 } }], table: 'None' }
    const { gateway, post } = await setUp(t, {
      handler: answering({ ...cohere, meta: { billed_units: { search_units: 2 } } }),
      policies: { budget: { limits: [{ name: 'team', usd: 0.005, per: 'Day' }] } },
      backend: { prices },
    })
    const statuses: number[] = []
    for (let turn = 0; turn < 3; turn++) {
      statuses.push((await post({ ...ask, documents: Array.from({ length: 101 }, () => 'd') })).status)
      await gateway.finished(turn + 1)
    }
    // Each call reserves and costs two searches, and the budget pays for one call.
    assert.deepEqual(statuses, [200, 429, 429])
    const line = JSON.parse(gateway.lines[0] ?? '') as Record<string, unknown>
    assert.deepEqual([line['portico.ai.cost_usd'], line['portico.ai.units']], [0.004, 'searchUnits:2'])
    assert.deepEqual(gateway.records[0]?.llm?.details(0, (text) => text).units, { searchUnits: 2 })
  })

  test('fails over, and routes by model', async (t) => {
    const down = await useOrigin(t, answering({ message: 'busy' }, 503))
    const up = await useOrigin(t, answering(bedrock))
    const at = ({ port }: { port: number }) => ({ host: '127.0.0.1', port })
    const key = { policies: { auth: { key: 'k' } } }
    const models = [
      { name: 'a', provider: { cohere: { model: 'rerank-v4' }, ...at(down) }, ...key },
      { name: 'b', provider: { bedrock: { region: 'us-west-2', model: 'amazon.rerank-v1:0' }, ...at(up) }, ...key },
      { name: 'best', targets: [{ model: 'a' }, { model: 'b' }] },
    ]
    const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { models } }] }]))
    const post = (model: string) =>
      request(gateway.port(), {
        method: 'POST',
        path: '/v1/rerank',
        headers: { accept: 'application/json' },
        body: JSON.stringify({ ...ask, model }),
      })
    const { status, body } = await post('best')
    assert.equal(status, 200, body)
    assert.deepEqual(resultsOf(body), [
      [1, 0.9],
      [0, 0.2],
    ])
    await gateway.finished(1)
    assert.deepEqual(
      gateway.records[0]?.llm?.attempts.map(({ outcome }) => outcome),
      ['503', '200'],
    )
    const unknown = await post('bst')
    assert.equal(unknown.status, 404)
    const { message, detail } = JSON.parse(unknown.body) as { message: string; detail: string }
    assert.match(message, /did you mean `best`/)
    assert.equal(detail, message)
  })

  test('errors of the provider and of the gateway are as the SDKs of rerank vendors read them', async (t) => {
    const { post, origin } = await setUp(t, {
      handler: answering({ message: 'no such model' }, 404),
      provider: { cohere: {} },
    })
    const theirs = await post(ask)
    assert.deepEqual(
      [theirs.status, JSON.parse(theirs.body)],
      [404, { message: 'no such model', detail: 'no such model' }],
    )
    const sent = origin.seen.length
    for (const [bad, field] of [
      [{ ...ask, query: 1 }, 'query'],
      [{ ...ask, documents: [1] }, 'documents'],
      [{ ...ask, top_n: 0 }, 'top_n'],
    ] as const) {
      const { status, body } = await post({ ...bad, top_k: undefined })
      assert.equal(status, 400)
      assert.match((JSON.parse(body) as { message: string }).message, new RegExp(`^${field}: must be`))
    }
    assert.equal(origin.seen.length, sent)
  })

  test('a result for a document that was not asked about is unreadable', async (t) => {
    const { gateway, post } = await setUp(t, {
      handler: answering({ results: [{ index: 7, relevanceScore: 1 }] }),
      provider: { bedrock: { region: 'us-west-2', model: 'amazon.rerank-v1:0' } },
    })
    assert.equal((await post(ask)).status, 502)
    await gateway.finished(1)
    assert.match(gateway.records[0]?.error ?? '', /could not be read/)
  })

  test('a provider without rerank calls says so', async (t) => {
    const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { provider: { anthropic: {} } } }] }]))
    const { status, body } = await request(gateway.port(), {
      method: 'POST',
      path: '/v1/rerank',
      body: JSON.stringify(ask),
    })
    assert.equal(status, 400)
    assert.match(body, /anthropic has no rerank calls/)
  })
})
