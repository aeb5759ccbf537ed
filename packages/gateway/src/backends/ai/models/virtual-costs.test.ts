import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { exchangeRaw, request } from '../../../testing/client.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { httpConfig, until, useGateway, useOrigin } from '../../../testing/scene.ts'
import { INPUT, OUTPUT, vendorStreams } from '../test-streams.ts'

/** Prices, budgets and token limits of virtual models: the model that serves a request is charged, also after a fallback. */

type Name = 'dear' | 'cheap'

const usage = { prompt_tokens: 1000, completion_tokens: 1000, total_tokens: 2000 }

/** A response of 1,000 input tokens and 1,000 output tokens. */
const respond: OriginHandler = (seen, response) => {
  const { model, stream } = JSON.parse(seen.body) as { model: string; stream?: boolean }
  if (stream === true) {
    const chunk = { id: 'c', model, choices: [{ index: 0, delta: { content: 'hello' }, finish_reason: 'stop' }], usage }
    return response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
  }
  const message = { role: 'assistant', content: 'hello' }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ id: 'c', model, choices: [{ index: 0, message, finish_reason: 'stop' }], usage }))
}

const unavailable: OriginHandler = (_seen, response) => response.writeHead(503).end('{"error":{"message":"no"}}')

/** A call that costs 40 cents at the dear model, and 4 cents at the cheap one. */
const RATES: Readonly<Record<Name, object>> = { dear: { input: 100, output: 300 }, cheap: { input: 10, output: 30 } }
const chat = { model: 'house', max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] }

interface Scene {
  handlers?: Partial<Record<Name, OriginHandler>>
  vendor?: 'openai' | 'anthropic'
  targets?: object[]
  policies?: object
}

async function setUp(t: TestContext, { handlers = {}, vendor = 'openai', targets, policies = {} }: Scene) {
  const names: readonly Name[] = ['dear', 'cheap']
  const origins = await Promise.all(names.map((name) => useOrigin(t, handlers[name] ?? respond)))
  const models = names.map((name, index) => ({
    name,
    provider: { [vendor]: { model: `${name}-1` }, host: '127.0.0.1', port: origins[index]?.port },
    policies: { prices: { models: [{ model: `${name}-1`, rates: RATES[name] }], table: 'None' } },
  }))
  const house = { name: 'house', targets: targets ?? [{ model: 'dear' }, { model: 'cheap' }] }
  const config = httpConfig([{ policies, backends: [{ ai: { models: [...models, house] } }] }])
  const gateway = await useGateway(t, config, { logFormat: 'json', monotonic: () => 0 })
  t.after(() => assert.deepEqual(gateway.bugs, []))
  let sent = 0
  const ask = async (body: object = {}, path = '/v1/chat/completions') => {
    const answer = await request(gateway.port(), {
      method: 'POST',
      path,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({ ...chat, ...body }),
    })
    await gateway.finished(++sent)
    return answer
  }
  const line = (at = -1) => JSON.parse(gateway.lines.at(at) ?? '{}') as Record<string, unknown>
  /** The rest of the budget, as the refusal of a call that is too large tells it. */
  const left = async () => /has (.+) of .+ left/.exec((await ask({ max_tokens: 9_000_000 })).body)?.[1]
  return { gateway, origins, ask, line, left }
}

const budget = (usd: number) => ({ budget: { limits: [{ name: 'team', usd, per: 'Day' }] } })
const rateLimit = { rateLimit: { local: [{ tokens: 100_000, unit: 'Hours' }] } }

for (const stream of [false, true]) {
  const how = stream ? 'stream' : 'response'
  test(`a ${how} costs what the model costs that served it, in log, metric and record`, async (t) => {
    const { gateway, ask, line } = await setUp(t, {})
    await ask({ stream })
    assert.equal(line()['portico.ai.cost_usd'], 0.4)
    assert.match(gateway.metrics(), /portico_llm_cost_usd_total\{.*gen_ai_request_model="dear-1".*\} 0\.4\n/)
    assert.deepEqual(gateway.recorded()[0]?.llm?.cost, gateway.records[0]?.llm?.cost)
    assert.equal(gateway.records[0]?.llm?.costUsd, 0.4)
  })

  test(`a ${how} after a fallback costs what the second model costs, and counts once`, async (t) => {
    const { gateway, ask, line, left } = await setUp(t, {
      handlers: { dear: unavailable },
      policies: { ...budget(1), ...rateLimit },
    })
    assert.equal((await ask({ stream })).status, 200)
    assert.equal(line()['portico.ai.cost_usd'], 0.04)
    assert.equal(line()['gen_ai.request.model'], 'cheap-1')
    assert.equal(line()['portico.ai.attempts'], 'dear:503,cheap:200')
    const metrics = gateway.metrics()
    assert.match(metrics, /portico_llm_cost_usd_total\{.*gen_ai_request_model="cheap-1".*\} 0\.04\n/)
    assert.doesNotMatch(metrics, /portico_llm_cost_usd_total\{.*gen_ai_request_model="dear-1"/)
    const cost = gateway.recorded()[0]?.llm?.cost
    assert.equal(cost?.kind === 'known' && cost.row, 'cheap-1')
    assert.equal(await left(), '$0.96')
    const { headers } = await ask()
    assert.equal(headers['x-ratelimit-remaining'], String(100_000 - 2000))
  })
}

test('a reservation moves to the target that is called: a cheaper one holds less', async (t) => {
  const waiting: (() => void)[] = []
  const { gateway, origins } = await setUp(t, {
    handlers: { dear: unavailable, cheap: (...exchange) => void waiting.push(() => respond(...exchange)) },
    policies: budget(0.35),
  })
  const send = () =>
    request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', body: JSON.stringify(chat) })
  // A call reserves 30 cents at the dear model, and 3 cents at the cheap one.
  const first = send()
  await until(() => waiting.length === 1)
  const second = send()
  await until(() => waiting.length === 2 || gateway.records.length > 0)
  for (const answer of waiting) answer()
  assert.deepEqual([(await first).status, (await second).status], [200, 200])
  await gateway.finished(2)
  assert.deepEqual(
    origins.map(({ seen }) => seen.length),
    [2, 2],
  )
})

test('a reservation moves to the target that is called: a dearer one needs room', async (t) => {
  const { gateway, origins, ask, left } = await setUp(t, {
    handlers: { cheap: unavailable },
    targets: [{ model: 'cheap' }, { model: 'dear' }],
    policies: budget(0.2),
  })
  const { status, body } = await ask()
  assert.equal(status, 429)
  assert.match(body, /"code":"budget_exceeded"/)
  assert.deepEqual(
    origins.map(({ seen }) => seen.length),
    [0, 1],
  )
  assert.equal(await left(), '$0.20')
  const record = gateway.recorded().at(-1)
  assert.equal(record?.llm?.modelChoice, 'cheap → cheap-1: status 503 (overloaded); dear chosen')
  assert.equal(record?.llm?.cost?.kind, 'unknown')
})

test('a stream that the client leaves is charged for what was produced, at the price of the second model', async (t) => {
  const { start, piece } = vendorStreams.completions
  const { gateway, line } = await setUp(t, {
    handlers: {
      dear: unavailable,
      cheap: (_seen, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(start + piece('word ').repeat(5))
      },
    },
    policies: { ...budget(1), ...rateLimit },
  })
  const body = JSON.stringify({ ...chat, stream: true })
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}`
  await exchangeRaw(gateway.port(), `${head}\r\n\r\n${body}`, (received) => received.split('word ').length > 5)
  await gateway.finished(1)
  assert.equal(line()['gen_ai.usage.estimated'], true)
  const [input, output] = [Number(line()['gen_ai.usage.input_tokens']), Number(line()['gen_ai.usage.output_tokens'])]
  assert.ok(output >= 4 && output <= 7, `${output} tokens`)
  const cents = (input * 10 + output * 30) / 1e6
  assert.equal(Number(line()['portico.ai.cost_usd']).toFixed(9), cents.toFixed(9))
  const record = gateway.recorded()[0]
  assert.ok(record?.llm?.cost?.kind === 'known' && record.llm.cost.basis === 'estimated')
  const rest = await request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', body: '{}' })
  assert.equal(Number(rest.headers['x-ratelimit-remaining']), 100_000 - input - output)
  await gateway.finished(2)
})

test('a client that leaves during the second attempt pays for the prompt at the price of the second model', async (t) => {
  const { gateway, origins } = await setUp(t, {
    handlers: { dear: unavailable, cheap: () => {} },
    policies: budget(1),
  })
  const left = new AbortController()
  const call = fetch(`http://127.0.0.1:${gateway.port()}/v1/chat/completions`, {
    ...{ method: 'POST', body: JSON.stringify(chat), signal: left.signal },
  })
  await until(() => origins[1]?.seen.length === 1)
  left.abort()
  await assert.rejects(call)
  await gateway.finished(1)
  const tooLarge = { ...chat, max_tokens: 9_000_000 }
  const { body } = await request(gateway.port(), {
    ...{ method: 'POST', path: '/v1/chat/completions', body: JSON.stringify(tooLarge) },
  })
  // The prompt is estimated as 8 tokens.
  assert.match(body, /team has \$0\.99992 of \$1\.00 left/)
})

test('a failed attempt that reported usage is charged beside the response', async (t) => {
  const { start, begin, piece, end, error } = vendorStreams.messages
  const { gateway, line, left, ask } = await setUp(t, {
    vendor: 'anthropic',
    handlers: {
      dear: (_seen, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(start + error),
      cheap: (_seen, response) =>
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(start + begin + piece('hello') + end),
    },
    policies: { ...budget(1), ...rateLimit },
  })
  assert.equal((await ask({ stream: true })).status, 200)
  const failed = (INPUT * 100 + 300) / 1e6
  const served = (INPUT * 10 + OUTPUT * 30) / 1e6
  assert.equal(line()['portico.ai.cost_usd'], failed + served)
  const metrics = gateway.metrics()
  const costOf = (model: string) =>
    new RegExp(`portico_llm_cost_usd_total\\{.*gen_ai_request_model="${model}".*\\} (.+)`).exec(metrics)?.[1]
  assert.deepEqual([costOf('dear-1'), costOf('cheap-1')], [String(failed), String(served)])
  const [first, second] = gateway.recorded()[0]?.llm?.attempts ?? []
  assert.deepEqual(first?.charge?.tokens, INPUT + 1)
  assert.equal(second?.charge, undefined)
  assert.equal(await left(), '$0.99884')
})

test('embeddings after a fallback cost what the second model costs', async (t) => {
  const { ask, line, left } = await setUp(t, {
    handlers: {
      dear: unavailable,
      cheap: (_seen, response) => {
        const data = [{ object: 'embedding', index: 0, embedding: [1] }]
        const counts = { prompt_tokens: 1000, total_tokens: 1000 }
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ object: 'list', data, model: 'cheap-1', usage: counts }))
      },
    },
    policies: budget(1),
  })
  const { status } = await ask({ input: 'hi', messages: undefined, max_tokens: undefined }, '/v1/embeddings')
  assert.equal(status, 200)
  assert.equal(line()['portico.ai.cost_usd'], 0.01)
  assert.equal(await left(), '$0.99')
})

test('a request that passes unchanged costs what the target costs that its virtual model chose', async (t) => {
  const { gateway, ask, line } = await setUp(t, {
    targets: [{ model: 'cheap' }],
    policies: { backend: { ai: { routes: { '/native': 'Detect' } } } },
  })
  assert.equal((await ask({}, '/native')).status, 200)
  assert.equal(line()['portico.ai.cost_usd'], 0.04)
  assert.equal(gateway.recorded()[0]?.llm?.clientModel, 'house')
})
