import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import type { Origin, OriginHandler } from '../../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'

interface ModelBody {
  model: string
}

const openAi: OriginHandler = (seen, response) => {
  response.setHeader('content-type', 'application/json')
  if (seen.url.endsWith('/embeddings')) {
    return response.end(
      JSON.stringify({
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [1] }],
        model: 'e',
        usage: { prompt_tokens: 3, total_tokens: 3 },
      }),
    )
  }
  const { model } = JSON.parse(seen.body || '{}') as ModelBody
  const message = { role: 'assistant', content: 'hello' }
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
  response.end(JSON.stringify({ id: 'c', model, choices: [{ index: 0, message, finish_reason: 'stop' }], usage }))
}

const anthropic: OriginHandler = (seen, response) => {
  response.setHeader('content-type', 'application/json')
  if (seen.url.endsWith('/count_tokens')) return response.end('{"input_tokens":12}')
  const { model } = JSON.parse(seen.body || '{}') as ModelBody
  const usage = { input_tokens: 7, output_tokens: 3 }
  const content = [{ type: 'text', text: 'hello' }]
  response.end(
    JSON.stringify({ id: 'm', type: 'message', role: 'assistant', model, content, stop_reason: 'end_turn', usage }),
  )
}

const at = ({ port }: Origin) => ({ host: '127.0.0.1', port })

async function setUp(t: TestContext, policies: object = {}, routePolicies: object = {}) {
  const [openai, claude] = [await useOrigin(t, openAi), await useOrigin(t, anthropic)]
  const models = [
    {
      name: 'smart',
      provider: { openai: { model: 'gpt-5.5' }, ...at(openai) },
      policies: { auth: { key: 'sk-openai' } },
    },
    { name: 'gpt-5-mini', provider: { openai: {}, ...at(openai) } },
    { name: 'anthropic/*', provider: { anthropic: {}, ...at(claude) }, policies: { auth: { key: 'sk-ant' } } },
    { name: 'claude-*', provider: { anthropic: {}, ...at(claude) } },
    { name: 'short-*', provider: { anthropic: { model: 'claude-*-5' }, ...at(claude) } },
    { name: 'hidden', visibility: 'Internal', provider: { openai: {}, ...at(openai) } },
    {
      name: 'research',
      provider: { openai: { model: 'o9' }, ...at(openai) },
      allow: '"x-team" in request.headers && request.headers["x-team"] == "research"',
    },
  ]
  const gateway = await useGateway(
    t,
    httpConfig([{ policies: routePolicies, backends: [{ ai: { models }, policies }] }]),
  )
  const send = (path: string, body: object | null, headers: Record<string, string> = {}) =>
    request(gateway.port(), {
      method: body === null ? 'GET' : 'POST',
      path,
      headers: { ...(body !== null && { 'content-type': 'application/json' }), ...headers },
      ...(body !== null && { body: JSON.stringify(body) }),
    })
  return { openai, claude, gateway, send }
}

const chat = (model?: string) => ({
  ...(model !== undefined && { model }),
  messages: [{ role: 'user', content: 'hi' }],
})
const modelOf = (origin: Origin) => (JSON.parse(origin.seen.at(-1)?.body ?? '{}') as ModelBody).model

test('the name of the model decides about the provider, its credentials and the name that it gets', async (t) => {
  const { openai, claude, gateway, send } = await setUp(t)
  const expected: [string, Origin, string, string | undefined][] = [
    ['smart', openai, 'gpt-5.5', 'Bearer sk-openai'],
    ['gpt-5-mini', openai, 'gpt-5-mini', undefined],
    ['anthropic/claude-sonnet-5', claude, 'claude-sonnet-5', 'sk-ant'],
    ['claude-opus-5', claude, 'claude-opus-5', undefined],
    ['short-sonnet', claude, 'claude-sonnet-5', undefined],
  ]
  for (const [name, origin, model, credential] of expected) {
    const answer = await send('/v1/chat/completions', chat(name))
    assert.equal(answer.status, 200, answer.body)
    const seen = origin.seen.at(-1)
    assert.equal(modelOf(origin), model, name)
    assert.equal(seen?.headers['authorization'] ?? seen?.headers['x-api-key'], credential, name)
  }
  assert.deepEqual(gateway.bugs, [])
})

test('a body whose model keeps its name passes byte for byte', async (t) => {
  const { openai, send } = await setUp(t)
  const body = { ...chat('gpt-5-mini'), unknown_field: { a: [1] } }
  assert.equal((await send('/v1/chat/completions', body)).status, 200)
  assert.equal(openai.seen[0]?.body, JSON.stringify(body))
})

test('an unknown name is refused in the format of the client, with the nearest name', async (t) => {
  const { send, gateway } = await setUp(t)
  const message = 'the model `smrt` does not exist; did you mean `smart`?'
  const completions = await send('/v1/chat/completions', chat('smrt'))
  assert.equal(completions.status, 404)
  assert.deepEqual(JSON.parse(completions.body), {
    error: { message, type: 'invalid_request_error', param: 'model', code: 'model_not_found' },
  })
  const messages = await send('/v1/messages', { ...chat('smrt'), max_tokens: 5 })
  assert.equal(messages.status, 404)
  assert.deepEqual(JSON.parse(messages.body), { type: 'error', error: { type: 'not_found_error', message } })
  for (const path of ['/v1/responses', '/v1/embeddings', '/v1/messages/count_tokens']) {
    const answer = await send(path, { model: 'smrt', input: 'hi', messages: chat().messages })
    assert.equal(answer.status, 404, path)
    assert.ok(answer.body.includes('did you mean `smart`'), answer.body)
  }
  assert.deepEqual(gateway.bugs, [])
})

test('names that the client may not know are neither suggested nor confirmed', async (t) => {
  const { openai, send } = await setUp(t)
  const answer = await send('/v1/chat/completions', chat('hidden'))
  assert.equal(answer.status, 404)
  assert.ok(!answer.body.includes('did you mean'), answer.body)
  assert.ok(!(await send('/v1/chat/completions', chat('researc'))).body.includes('did you mean'))
  assert.equal(openai.seen.length, 0)
})

test('a model that the client may not use is refused with 403', async (t) => {
  const { openai, send } = await setUp(t)
  const denied = await send('/v1/chat/completions', chat('research'))
  assert.equal(denied.status, 403)
  assert.ok(denied.body.includes('"code":"model_not_allowed"'), denied.body)
  assert.equal(openai.seen.length, 0)
  const allowed = await send('/v1/chat/completions', chat('research'), { 'x-team': 'research' })
  assert.equal(allowed.status, 200)
  assert.equal(modelOf(openai), 'o9')
})

test('a request without a model is refused, unless a pattern of all names has a model', async (t) => {
  const { send } = await setUp(t)
  const refused = await send('/v1/chat/completions', chat())
  assert.equal(refused.status, 400)
  assert.ok(refused.body.includes('"code":"missing_model"'), refused.body)
  const origin = await useOrigin(t, openAi)
  for (const [openai, status] of [
    [{ model: 'gpt-5' }, 200],
    [{}, 400],
  ] as const) {
    const gateway = await useGateway(
      t,
      httpConfig([{ backends: [{ ai: { models: [{ name: '*', provider: { openai, ...at(origin) } }] } }] }]),
    )
    const body = JSON.stringify(chat())
    const answer = await request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', body })
    assert.equal(answer.status, status, answer.body)
  }
  assert.equal(modelOf(origin), 'gpt-5')
})

test('the list has the names that the client may use, in the format of its library', async (t) => {
  const { openai, claude, gateway, send } = await setUp(t)
  const list = async (path: string, headers: Record<string, string> = {}) =>
    JSON.parse((await send(path, null, headers)).body) as { data: { id: string }[]; models: { name: string }[] }
  const forAll = await list('/v1/models')
  assert.deepEqual(
    forAll.data.map(({ id }) => id),
    ['smart', 'gpt-5-mini'],
  )
  const forResearch = await list('/v1/models', { 'x-team': 'research', 'anthropic-version': '2023-06-01' })
  assert.deepEqual(
    forResearch.data.map(({ id }) => id),
    ['smart', 'gpt-5-mini', 'research'],
  )
  assert.deepEqual(
    (await list('/v1beta/models')).models.map(({ name }) => name),
    ['models/smart', 'models/gpt-5-mini'],
  )
  const one = await send('/v1/models/anthropic%2Fclaude-5', null)
  assert.equal((JSON.parse(one.body) as { id: string }).id, 'anthropic/claude-5')
  const unknown = await send('/v1/models/smat', null, { 'anthropic-version': '2023-06-01' })
  assert.equal(unknown.status, 404)
  assert.ok(unknown.body.includes('"not_found_error"'), unknown.body)
  assert.equal((await send('/v1/models/research', null)).status, 403)
  assert.equal(openai.seen.length + claude.seen.length, 0)
  assert.deepEqual(gateway.bugs, [])
})

test('embeddings and token counts go to the provider of their model', async (t) => {
  const { openai, claude, send } = await setUp(t)
  assert.equal((await send('/v1/embeddings', { model: 'smart', input: 'hi' })).status, 200)
  assert.equal(modelOf(openai), 'gpt-5.5')
  const count = await send('/v1/messages/count_tokens', chat('anthropic/claude-sonnet-5'))
  assert.deepEqual(JSON.parse(count.body), { input_tokens: 12 })
  assert.equal(modelOf(claude), 'claude-sonnet-5')
  const estimated = await send('/v1/messages/count_tokens', chat('smart'))
  assert.ok((JSON.parse(estimated.body) as { input_tokens: number }).input_tokens > 0, estimated.body)
})

test('requests that pass unread are routed by the model in their path or body, and nothing else changes', async (t) => {
  const { openai, claude, send } = await setUp(t, { ai: { routes: { '*': 'Passthrough' } } })
  const body = '{ "input": "hi",  "model": "smart" }'
  const moderated = await send('/v1/moderations', JSON.parse(body) as object)
  assert.equal(moderated.status, 200)
  assert.equal(openai.seen[0]?.url, '/v1/moderations')
  assert.equal(openai.seen[0]?.body, '{"input":"hi","model":"gpt-5.5"}')
  await send('/v1beta/models/claude-x:generateContent?alt=sse', { contents: [] })
  assert.equal(claude.seen[0]?.url, '/v1beta/models/claude-x:generateContent?alt=sse')
  await send('/v1beta/models/short-y:generateContent', { contents: [] })
  assert.equal(claude.seen[1]?.url, '/v1beta/models/claude-y-5:generateContent')
  const missing = await send('/v1/files', null)
  assert.equal(missing.status, 400)
  assert.ok(missing.body.includes('names no model'), missing.body)
})

test('records, limits and expressions refer to the model that was called', async (t) => {
  const { gateway, send } = await setUp(
    t,
    {},
    { transformation: { response: { set: [{ name: 'x-model', value: 'llm.requestModel' }] } } },
  )
  const answer = await send('/v1/chat/completions', chat('smart'))
  assert.equal(answer.headers['x-model'], 'gpt-5.5')
  await gateway.finished(1)
})
