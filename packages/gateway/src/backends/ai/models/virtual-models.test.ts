import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import type { Origin, OriginHandler } from '../../../testing/origin.ts'
import { closedPort, httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'

const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }

const respond: OriginHandler = (seen, response) => {
  const { model, stream } = JSON.parse(seen.body) as { model: string; stream?: boolean }
  if (stream === true) {
    response.setHeader('content-type', 'text/event-stream')
    const chunk = { id: 'c', model, choices: [{ index: 0, delta: { content: 'hello' }, finish_reason: 'stop' }], usage }
    return response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
  }
  const message = { role: 'assistant', content: `from ${model}` }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ id: 'c', model, choices: [{ index: 0, message, finish_reason: 'stop' }], usage }))
}

function failWith(status: number, error: object = { message: 'no' }): OriginHandler {
  return (_seen, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error }))
  }
}

interface Scene {
  send: (model: string, more?: object, headers?: Record<string, string>) => Promise<{ status: number; body: string }>
  /** The names of the models that were called, in order. */
  called: string[]
  origins: Record<'a' | 'b' | 'c', Origin>
  choice: () => Promise<string | undefined>
}

/** A gateway with the models a, b and c, each of its own origin, and other models. */
async function setUp(
  t: TestContext,
  others: object[],
  handlers: Partial<Record<'a' | 'b' | 'c', OriginHandler>> = {},
  more: Partial<Record<'a' | 'b' | 'c', object>> = {},
): Promise<Scene> {
  const called: string[] = []
  const start = async (name: 'a' | 'b' | 'c') =>
    useOrigin(t, (seen, response, ...rest) => {
      called.push(name)
      return (handlers[name] ?? respond)(seen, response, ...rest)
    })
  const origins = { a: await start('a'), b: await start('b'), c: await start('c') }
  const models = (['a', 'b', 'c'] as const).map((name) => ({
    name,
    provider: { openai: { model: `${name}-1` }, host: '127.0.0.1', port: origins[name].port },
    ...more[name],
  }))
  const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { models: [...models, ...others] } }] }]))
  const send: Scene['send'] = async (model, body = {}, headers = {}) => {
    const chat = { model, messages: [{ role: 'user', content: 'hi' }], ...body }
    const path = '/v1/chat/completions'
    return request(gateway.port(), { method: 'POST', path, headers, body: JSON.stringify(chat) })
  }
  t.after(() => assert.deepEqual(gateway.bugs, []))
  const choice = async () => {
    await gateway.finished(1)
    return gateway.recorded()[0]?.llm?.modelChoice
  }
  return { send, called, origins, choice }
}

const house = (more: object) => ({ name: 'house', targets: [{ model: 'a' }, { model: 'b' }], ...more })

test('by order, the first target serves the request, and the next one when it fails', async (t) => {
  const handlers: { a?: OriginHandler } = {}
  const { send, called, choice } = await setUp(t, [house({})], handlers)
  assert.match((await send('house')).body, /from a-1/)
  assert.equal(await choice(), 'a chosen')
  for (const status of [429, 500, 502, 503, 504, 529]) {
    handlers.a = failWith(status)
    called.length = 0
    assert.match((await send('house')).body, /from b-1/, String(status))
    assert.deepEqual(called, ['a', 'b'])
  }
})

test('a prompt that is too large for a condition goes to the next target, and the record says why', async (t) => {
  const targets = [{ model: 'a', when: 'llm.promptTokens < 100' }, { model: 'b' }]
  const { send, called, choice } = await setUp(t, [{ name: 'house', targets }])
  assert.equal((await send('house', { messages: [{ role: 'user', content: 'word '.repeat(400) }] })).status, 200)
  assert.deepEqual(called, ['b'])
  assert.match((await choice()) ?? '', /^a → a-1: [\d,]+ prompt tokens ≥ 100; b chosen$/)
  await send('house')
  assert.deepEqual(called, ['b', 'a'])
})

test('a request that no target takes is refused', async (t) => {
  const { send, called } = await setUp(t, [{ name: 'house', targets: [{ model: 'a', when: 'llmRequest.n > 1' }] }])
  const answer = await send('house')
  assert.equal(answer.status, 400)
  assert.match(answer.body, /"code":"no_model_target"/)
  assert.deepEqual(called, [])
  assert.equal((await send('house', { n: 2 })).status, 200)
})

test('by weight, the shares of the targets are about their weights, and weight 0 gets nothing', async (t) => {
  const targets = [
    { model: 'a', weight: 3 },
    { model: 'b', weight: 1 },
    { model: 'c', weight: 0 },
  ]
  const { send, called } = await setUp(t, [{ name: 'house', by: 'Weight', targets }])
  for (let i = 0; i < 120; i++) await send('house')
  const share = called.filter((name) => name === 'a').length
  assert.ok(share > 65 && share < 113, String(share))
  assert.ok(!called.includes('c'))
})

test('by price, the cheapest target comes first', async (t) => {
  const price = (input: number, output: number) => ({ price: { input, output } })
  const { send, called } = await setUp(t, [house({ by: 'price' })], {}, { a: price(5, 10), b: price(1, 12) })
  await send('house')
  assert.deepEqual(called, ['b'])
})

test('by speed, each target is measured, and then the fastest comes first', async (t) => {
  const slow: OriginHandler = (seen, response, ...rest) => void setTimeout(() => respond(seen, response, ...rest), 150)
  const { send, called } = await setUp(t, [house({ by: 'Speed' })], { a: slow })
  for (let i = 0; i < 5; i++) await send('house')
  assert.deepEqual(called, ['a', 'b', 'b', 'b', 'b'])
})

test('by hash, equal values have one target, and other values have others', async (t) => {
  const { send, called } = await setUp(t, [house({ by: 'Hash', hash: 'request.headers["x-user"]' })])
  const users = Array.from({ length: 16 }, (_, i) => `user-${i}`)
  for (const user of users) await send('house', {}, { 'x-user': user })
  const first = [...called]
  assert.deepEqual([...new Set(first)].toSorted(), ['a', 'b'])
  called.length = 0
  for (const user of users) await send('house', {}, { 'x-user': user })
  assert.deepEqual(called, first)
})

const tooLong = failWith(400, { message: 'maximum context length is 8192 tokens', code: 'context_length_exceeded' })
const filtered = failWith(400, { message: 'The response was filtered', code: 'content_filter' })

test('an error about the prompt goes to the client, unless `fallback` has a rule for its kind', async (t) => {
  const kinds: [string, OriginHandler][] = [
    ['contextLength', tooLong],
    ['contentFilter', filtered],
  ]
  for (const [kind, handler] of kinds) {
    const models = [
      house({}),
      { ...house({ fallback: { [kind]: 'next' } }), name: 'moving' },
      { ...house({ fallback: { [kind]: 'c' } }), name: 'jumping' },
    ]
    const { send, called, choice } = await setUp(t, models, { a: handler })
    assert.equal((await send('house')).status, 400)
    assert.deepEqual(called.splice(0), ['a'])
    assert.match((await send('moving')).body, /from b-1/)
    assert.deepEqual(called.splice(0), ['a', 'b'])
    assert.match((await send('jumping')).body, /from c-1/)
    assert.deepEqual(called.splice(0), ['a', 'c'])
    assert.equal((await send('jumping', { stream: true })).status, 200)
    assert.deepEqual(called, ['a', 'c'])
    await choice()
  }
})

test('`fail` ends the request with the error of the provider', async (t) => {
  const cases = [
    ['rateLimit', 429],
    ['overload', 503],
    ['timeout', 504],
  ] as const
  for (const [kind, status] of cases) {
    const { send, called } = await setUp(t, [house({ fallback: { [kind]: 'fail' } })], { a: failWith(status) })
    assert.equal((await send('house')).status, status)
    assert.deepEqual(called, ['a'])
  }
})

test('a target that does not respond in time is a timeout', async (t) => {
  const silent: OriginHandler = () => {}
  const policies = { policies: { http: { requestTimeout: '100ms' } } }
  const models = [house({}), { ...house({ fallback: { timeout: 'c' } }), name: 'jumping' }]
  const { send, called } = await setUp(t, models, { a: silent }, { a: policies })
  assert.match((await send('house')).body, /from b-1/)
  assert.match((await send('jumping')).body, /from c-1/)
  assert.deepEqual(called, ['a', 'b', 'a', 'c'])
})

test('a stream that has begun is never moved to another target', async (t) => {
  const broken: OriginHandler = (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const chunk = { id: 'c', model: 'a-1', choices: [{ index: 0, delta: { content: 'hel' } }] }
    response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    setTimeout(() => response.destroy(), 50)
  }
  const { send, called } = await setUp(t, [house({})], { a: broken })
  const answer = await send('house', { stream: true })
  assert.equal(answer.status, 200)
  assert.match(answer.body, /hel/)
  assert.match(answer.body, /"error"/)
  assert.deepEqual(called, ['a'])
})

test('virtual models nest, the innermost rule decides, and each provider is tried once', async (t) => {
  const models = [
    { name: 'inner', targets: [{ model: 'a' }, { model: 'b' }], visibility: 'Internal' },
    { name: 'outer', targets: [{ model: 'inner' }, { model: 'a' }, { model: 'c' }], fallback: { rateLimit: 'next' } },
  ]
  const { send, called } = await setUp(t, models, { a: failWith(429), b: failWith(500), c: failWith(503) })
  assert.equal((await send('outer')).status, 503)
  assert.deepEqual(called, ['a', 'b', 'c'])
  assert.equal((await send('inner')).status, 404)
})

test('a target that cannot be reached fails over, whatever the order', async (t) => {
  const port = await closedPort()
  const gone = { name: 'gone', provider: { openai: {}, host: '127.0.0.1', port } }
  const { send, choice } = await setUp(t, [gone, { name: 'house', targets: [{ model: 'gone' }, { model: 'b' }] }])
  assert.match((await send('house')).body, /from b-1/)
  assert.match((await choice()) ?? '', /^gone: connect_failed; b chosen$/)
})

test('a target that the client may not use is passed over', async (t) => {
  const { send, called } = await setUp(t, [house({})], {}, { a: { allow: '"x-vip" in request.headers' } })
  await send('house')
  await send('house', {}, { 'x-vip': '1' })
  assert.deepEqual(called, ['b', 'a'])
})
