import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import OpenAI from 'openai'
import { request } from '../../../testing/client.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'

const works: OriginHandler = (_seen, response) => {
  const results = [{ flagged: true, categories: { violence: true }, category_scores: { violence: 0.9 } }]
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ id: 'modr-1', model: 'omni-moderation-2024-09-26', results, novel: { kept: 1 } }))
}

async function setUp(t: TestContext, handler: OriginHandler = works, more: { ai?: object; prices?: object } = {}) {
  const origin = await useOrigin(t, handler)
  const backend = {
    auth: { key: 'sk-ours' },
    ...(more.ai && { ai: more.ai }),
    ...(more.prices && { prices: more.prices }),
  }
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const route = { policies: { backend }, backends: [{ ai: { provider } }] }
  const gateway = await useGateway(t, httpConfig([route]), { logFormat: 'json' })
  t.after(() => assert.deepEqual(gateway.bugs, []))
  const post = (body: unknown) =>
    request(gateway.port(), {
      method: 'POST',
      path: '/v1/moderations',
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  return { origin, gateway, post }
}

test('the SDK of OpenAI gets its moderation, and the log the operation and the model', async (t) => {
  const { gateway, origin } = await setUp(t)
  const sdk = new OpenAI({ baseURL: `http://127.0.0.1:${gateway.port()}/v1`, apiKey: 'client', maxRetries: 0 })
  const { results } = await sdk.moderations.create({ model: 'omni-moderation-latest', input: ['a', 'b'] })
  assert.equal(results[0]?.flagged, true)
  const [seen] = origin.seen
  assert.deepEqual([seen?.url, seen?.headers.authorization], ['/v1/moderations', 'Bearer sk-ours'])
  await gateway.finished(1)
  const line = JSON.parse(gateway.lines[0] ?? '') as Record<string, unknown>
  assert.equal(line['gen_ai.operation.name'], 'moderation')
  assert.equal(line['gen_ai.response.model'], 'omni-moderation-2024-09-26')
})

test('bytes and unknown members pass unchanged, in both directions', async (t) => {
  const { origin, post } = await setUp(t)
  const { status, body } = await post('{"input" : "hi",  "odd": [1.0]}')
  assert.equal(status, 200)
  assert.match(body, /"novel":\{"kept":1\}/)
  assert.equal(origin.seen[0]?.body, '{"input" : "hi",  "odd": [1.0]}')
})

test('guards see texts and parts, and refuse pictures that they cannot see', async (t) => {
  const promptGuard = { request: [{ regex: { builtins: ['Ssn'], action: 'Mask' } }] }
  const { origin, post } = await setUp(t, works, { ai: { promptGuard } })
  await post({ model: 'm', input: 'I am 123-45-6789' })
  await post({ model: 'm', input: ['fine', { type: 'text', text: '123-45-6789' }] })
  assert.deepEqual(
    origin.seen.map(({ body }) => (JSON.parse(body) as { input: unknown }).input),
    ['I am <SSN>', ['fine', { type: 'text', text: '<SSN>' }]],
  )
  const rejecting = await setUp(t, works, {
    ai: { promptGuard: { request: [{ regex: { builtins: ['Ssn'], action: 'Reject' } }] } },
  })
  const image = await rejecting.post({ model: 'm', input: [{ type: 'image_url', image_url: { url: 'https://x/y' } }] })
  assert.equal(image.status, 403)
  assert.match(image.body, /Image/)
  assert.equal((await rejecting.post({ model: 'm', input: '123-45-6789' })).status, 403)
  assert.equal(rejecting.origin.seen.length, 0)
})

test('a price by call is charged once the provider has served it, and never for an error', async (t) => {
  let count = 0
  const handler: OriginHandler = (seen, response, ...rest) => {
    if (count++ === 0) return works(seen, response, ...rest)
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"too long","code":"x"}}')
  }
  const prices = { models: [{ model: 'omni-*', perCall: 100 }], table: 'None' }
  const { gateway, post } = await setUp(t, handler, { prices })
  await post({ model: 'omni-moderation-latest', input: 'a' })
  const refused = await post({ model: 'omni-moderation-latest', input: 'a' })
  assert.equal(refused.status, 400)
  assert.match(refused.body, /"message":"too long".*"code":"x"/)
  await gateway.finished(2)
  const costs = gateway.lines.map((line) => (JSON.parse(line) as Record<string, unknown>)['portico.ai.cost_usd'])
  assert.deepEqual(costs, [0.0001, undefined])
})

test('a response that is none, and one that breaks off, are errors in the format of the client', async (t) => {
  const faults: readonly [RegExp, OriginHandler][] = [
    [/could not be read/, (_seen, response) => response.end('{"ok":true}')],
    [
      /closed/,
      (_seen, response) => {
        response.writeHead(200, { 'content-length': '100' })
        response.write('{"results"')
        setImmediate(() => response.destroy())
      },
    ],
  ]
  for (const [error, handler] of faults) {
    const { gateway, post } = await setUp(t, handler)
    const { status, body } = await post({ model: 'm', input: 'a' })
    assert.equal(status, 502)
    assert.equal((JSON.parse(body) as { error: { type: string } }).error.type, 'api_error')
    await gateway.finished(1)
    assert.equal(gateway.records[0]?.reason, 'UpstreamFailure')
    assert.match(gateway.records[0]?.error ?? '', error)
  }
})

test('a provider without moderations says so', async (t) => {
  const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { provider: { anthropic: {} } } }] }]))
  const { status, body } = await request(gateway.port(), {
    method: 'POST',
    path: '/v1/moderations',
    body: '{"model":"m","input":"a"}',
  })
  assert.equal(status, 400)
  assert.match(body, /anthropic has no moderations/)
})
