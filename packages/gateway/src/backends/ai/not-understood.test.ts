import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import type { SeenRequest } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'

/** Requests that the gateway does not understand: they pass if that is safe, and never bypass a guard silently. */

const answers: Readonly<Record<string, object>> = {
  '/v1/chat/completions': {
    id: 'c',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  },
  '/v1/messages': { id: 'm', type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn', usage: {} },
  '/v1/messages/count_tokens': { input_tokens: 4711 },
  '/v1/embeddings': { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], model: 'm' },
}

async function setUp(t: TestContext, provider: string, ai: object = {}) {
  const origin = await useOrigin(t, (seen, response) => {
    const answer = answers[seen.url.split('?')[0] ?? ''] ?? {}
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  const route = {
    policies: { backend: { ai } },
    backends: [{ ai: { provider: { [provider]: {}, host: '127.0.0.1', port: origin.port } } }],
  }
  const gateway = await useGateway(t, httpConfig([route]))
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    request(gateway.port(), {
      method: 'POST',
      path,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers,
    })
  return { origin, gateway, post }
}

const guarded = (guard: object) => ({ promptGuard: { request: [{ regex: { builtins: ['Ssn'], ...guard } }] } })
const bodiesOf = (seen: readonly SeenRequest[]): string[] => seen.map(({ body }) => body)

describe('a path without a route type', () => {
  for (const [path, body, headers] of [
    ['/v1/containers', '--b\r\n\r\n--b--', { 'content-type': 'multipart/form-data; boundary=b' }],
    ['/v1/fine_tuning/jobs', { training_file: 'f', model: 'm' }, {}],
    ['/v1/uploads', '', {}],
  ] as const) {
    test(`says so, and how to give it one: ${path}`, async (t) => {
      const { origin, post } = await setUp(t, 'openai')
      const answer = await post(path, body, headers)
      assert.equal(answer.status, 400)
      assert.ok(answer.body.includes(`the path ${path} has no route type`), answer.body)
      assert.match(answer.body, /ai\.routes/)
      assert.equal(origin.seen.length, 0)
    })
  }

  test('is a chat where the body is one', async (t) => {
    const { post } = await setUp(t, 'openai')
    assert.equal((await post('/', { model: 'm', messages: [{ role: 'user', content: 'hi' }] })).status, 200)
  })
})

const odd = {
  'an unknown role': { messages: [{ role: 'critic', content: 'hm' }] },
  'odd fields': { messages: [{ role: 'user', content: 'hi' }], temperature: 'hot', stop: { any: [1] }, tools: 'none' },
  'odd content': { messages: [{ role: 'user', content: { parts: ['hi'] } }] },
}
for (const [name, body] of Object.entries(odd)) {
  describe(name, () => {
    for (const [provider, path] of [
      ['openai', '/v1/chat/completions'],
      ['anthropic', '/v1/messages'],
    ] as const) {
      test(`passes to ${provider} as it is, by a guard that finds nothing too`, async (t) => {
        for (const ai of [{}, guarded({})]) {
          const { origin, post } = await setUp(t, provider, ai)
          const sent = JSON.stringify({ model: 'm', max_tokens: 5, ...body })
          const answer = await post(path, sent)
          assert.equal(answer.status, 200, answer.body)
          assert.deepEqual(bodiesOf(origin.seen), [sent])
        }
      })
    }

    test('is refused where it would have to be changed, or translated', async (t) => {
      const private_ = { ...body, model: 'm', max_tokens: 5, user: 'I am 123-45-6789' }
      const masking = await setUp(t, 'openai', guarded({ action: 'Mask' }))
      const rejecting = await setUp(t, 'openai', guarded({ action: 'Reject' }))
      const enriching = await setUp(t, 'openai', { prompt: { prepend: [{ role: 'system', content: 'be kind' }] } })
      const other = await setUp(t, 'anthropic')
      assert.equal((await masking.post('/v1/chat/completions', private_)).status, 400)
      assert.equal((await rejecting.post('/v1/chat/completions', private_)).status, 403)
      assert.equal((await enriching.post('/v1/chat/completions', { ...body, model: 'm' })).status, 400)
      assert.equal((await other.post('/v1/chat/completions', { ...body, model: 'm' })).status, 400)
      for (const { origin } of [masking, rejecting, enriching, other]) assert.equal(origin.seen.length, 0)
    })
  })
}

describe('embeddings with a guard', () => {
  test('are masked, one text or several, and the rest of the body stays', async (t) => {
    const { origin, post } = await setUp(t, 'openai', guarded({ action: 'Mask' }))
    assert.equal((await post('/v1/embeddings', '{"model": "m","input" :"I am 123-45-6789", "user":"u"}')).status, 200)
    assert.equal((await post('/v1/embeddings', { input: ['fine', '123-45-6789'], model: 'm' })).status, 200)
    assert.equal((await post('/v1/embeddings', '{"model": "m",  "input":"fine"}')).status, 200)
    assert.deepEqual(bodiesOf(origin.seen), [
      '{"model": "m","input" :"I am <SSN>", "user":"u"}',
      '{"input":["fine","<SSN>"],"model":"m"}',
      '{"model": "m",  "input":"fine"}',
    ])
  })

  test('are refused by one that refuses, and where they are tokens that nobody can read', async (t) => {
    const { origin, post, gateway } = await setUp(t, 'openai', guarded({ action: 'Reject' }))
    assert.equal((await post('/v1/embeddings', { model: 'm', input: '123-45-6789' })).status, 403)
    await gateway.finished(1)
    assert.equal(gateway.records[0]?.reason, 'PromptGuard')
    const tokens = await post('/v1/embeddings', { model: 'm', input: [1, 2, 3] })
    assert.deepEqual([tokens.status, /guards/.test(tokens.body)], [400, true])
    assert.equal(origin.seen.length, 0)
  })
})

test('tokens of what a guard must see are counted here', async (t) => {
  const body = { model: 'claude-x', messages: [{ role: 'user', content: 'I am 123-45-6789' }] }
  const plain = await setUp(t, 'anthropic')
  assert.equal((await plain.post('/v1/messages/count_tokens', body)).body, '{"input_tokens":4711}')
  const { origin, post } = await setUp(t, 'anthropic', guarded({ action: 'Mask' }))
  const answer = await post('/v1/messages/count_tokens', body)
  assert.match(answer.body, /^\{"input_tokens":\d{1,2}\}$/)
  assert.equal(origin.seen.length, 0)
})
