import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { exchangeRaw, request, sendRaw } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'

const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-test-2026',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
}

function json(body: unknown, status = 200): OriginHandler {
  return (_seen, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
}

async function setUp(t: TestContext, handler: OriginHandler, provider: object = { openai: {} }, policies: object = {}) {
  const origin = await useOrigin(t, handler)
  const gateway = await useGateway(
    t,
    httpConfig([{ policies, backends: [{ ai: { provider: { ...provider, host: '127.0.0.1', port: origin.port } } }] }]),
  )
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    request(gateway.port(), { method: 'POST', path, body: JSON.stringify(body), headers })
  return { origin, gateway, post }
}

const chat = { model: 'gpt-test', messages: [{ role: 'user', content: 'hi' }] }

test('a client and a provider of one format: the bytes pass, the tokens are counted', async (t) => {
  const { origin, gateway, post } = await setUp(t, json(completion))
  const answer = await post('/v1/chat/completions', { ...chat, unknown_field: { a: [1] } })
  assert.equal(answer.status, 200)
  assert.equal(answer.body, JSON.stringify(completion))
  assert.equal(origin.seen[0]?.url, '/v1/chat/completions')
  assert.equal(origin.seen[0]?.body, JSON.stringify({ ...chat, unknown_field: { a: [1] } }))
  await gateway.finished(1)
  assert.deepEqual(gateway.bugs, [])
})

test('a Messages client speaks to a provider of Completions', async (t) => {
  const { origin, post } = await setUp(t, json(completion))
  const answer = await post('/v1/messages', { model: 'gpt-test', max_tokens: 50, messages: chat.messages })
  assert.equal(answer.status, 200)
  const body = JSON.parse(answer.body) as { type: string; content: unknown; usage: { output_tokens: number } }
  assert.equal(body.type, 'message')
  assert.deepEqual(body.content, [{ type: 'text', text: 'hello' }])
  assert.equal(body.usage.output_tokens, 3)
  assert.equal(origin.seen[0]?.url, '/v1/chat/completions')
})

const chunks = [
  {
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-test-2026',
    choices: [{ index: 0, delta: { role: 'assistant', content: 'he' }, finish_reason: null }],
  },
  {
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-test-2026',
    choices: [{ index: 0, delta: { content: 'llo' }, finish_reason: null }],
  },
  {
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-test-2026',
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
  },
  {
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-test-2026',
    choices: [],
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  },
]

const streamed: OriginHandler = (_seen, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  response.end('data: [DONE]\n\n')
}

test('a stream passes record for record; usage that the client did not ask for is counted and kept back', async (t) => {
  const { origin, gateway, post } = await setUp(t, streamed)
  const answer = await post('/v1/chat/completions', { ...chat, stream: true })
  const expected = [...chunks.slice(0, 3).map((chunk) => JSON.stringify(chunk)), '[DONE]']
  assert.deepEqual(recordsOf(answer.body), expected)
  assert.deepEqual(JSON.parse(origin.seen[0]!.body), { ...chat, stream: true, stream_options: { include_usage: true } })
  await gateway.finished(1)
  const asked = await post('/v1/chat/completions', { ...chat, stream: true, stream_options: { include_usage: true } })
  assert.equal(recordsOf(asked.body).length, 5)
})

test('a Messages client reads the stream of a Completions provider', async (t) => {
  const { post } = await setUp(t, streamed)
  const answer = await post('/v1/messages', { model: 'm', max_tokens: 5, stream: true, messages: chat.messages })
  const types = recordsOf(answer.body).map((record) => (JSON.parse(record) as { type: string }).type)
  assert.equal(types[0], 'message_start')
  assert.equal(types.at(-1), 'message_stop')
  assert.ok(types.includes('content_block_delta'))
})

function recordsOf(text: string): string[] {
  // The body of a chunked message, as the raw client keeps it.
  return [...text.matchAll(/^data: (.*)$/gm)].map((found) => found[1]!.replace(/\r$/, ''))
}

test('a token limit: the request that crosses it passes, the next one gets 429', async (t) => {
  const { origin, gateway, post } = await setUp(t, json(completion), undefined, {
    rateLimit: { local: [{ tokens: 15, unit: 'Hours' }] },
  })
  assert.equal((await post('/v1/chat/completions', chat)).status, 200)
  await gateway.finished(1)
  assert.equal((await post('/v1/chat/completions', chat)).status, 200)
  await gateway.finished(2)
  const refused = await post('/v1/chat/completions', chat)
  assert.equal(refused.status, 429)
  assert.equal(refused.body, 'rate limit exceeded')
  assert.equal(origin.seen.length, 2)
})

test('an error of the provider keeps its status, in the format of the client', async (t) => {
  const error = { error: { message: 'no such model', type: 'invalid_request_error', code: 'model_not_found' } }
  const { post } = await setUp(t, json(error, 404))
  const own = await post('/v1/chat/completions', chat)
  assert.deepEqual([own.status, JSON.parse(own.body)], [404, error])
  const other = await post('/v1/messages', { model: 'm', max_tokens: 5, messages: chat.messages })
  assert.equal(other.status, 404)
  const body = JSON.parse(other.body) as { type: string; error: { message: string } }
  assert.deepEqual([body.type, body.error.message], ['error', 'no such model'])
})

test('trouble of one provider moves the request to the next group, and the trace says why', async (t) => {
  const down = await useOrigin(t, json({ error: { message: 'slow down' } }, 429))
  const up = await useOrigin(t, json(completion))
  const provider = (name: string, { port }: { port: number }) => ({ name, openai: {}, host: '127.0.0.1', port })
  const groups = [{ providers: [provider('first', down)] }, { providers: [provider('second', up)] }]
  const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { groups } }] }]))
  const events = gateway.trace()
  const answer = await request(gateway.port(), {
    method: 'POST',
    path: '/v1/chat/completions',
    body: JSON.stringify(chat),
  })
  assert.equal(answer.status, 200)
  assert.deepEqual([down.seen.length, up.seen.length], [1, 1])
  const failover = (await events).find(({ message }) => message.type === 'llmFailover')
  assert.deepEqual(failover?.message, { type: 'llmFailover', from: 'first', to: 'second', reason: 'status 429' })
})

test('a regex guard masks what goes in and what comes out, streamed too', async (t) => {
  const secret = 'mail me at ann@example.com please'
  const echo: OriginHandler = (seen, response) => {
    const { stream, messages } = JSON.parse(seen.body) as { stream?: boolean; messages: { content: string }[] }
    if (stream !== true) {
      const message = { role: 'assistant', content: secret }
      return json({ ...completion, choices: [{ index: 0, message, finish_reason: 'stop' }] })(
        seen,
        response,
        undefined as never,
      )
    }
    assert.equal(messages.length, 1)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const letter of secret) {
      const choices = [{ index: 0, delta: { content: letter }, finish_reason: null }]
      response.write(`data: ${JSON.stringify({ ...chunks[0], choices })}\n\n`)
    }
    for (const chunk of chunks.slice(2)) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    response.end('data: [DONE]\n\n')
  }
  const guard = [{ regex: { builtins: ['Email'] } }]
  const { origin, post } = await setUp(t, echo, undefined, {
    backend: { ai: { promptGuard: { request: guard, response: guard } } },
  })
  const asked = { ...chat, messages: [{ role: 'user', content: 'I am bob@example.com' }] }
  const whole = await post('/v1/chat/completions', asked)
  assert.equal(whole.status, 200)
  assert.match(origin.seen[0]!.body, /I am <EMAIL_ADDRESS>/)
  assert.match(whole.body, /mail me at <EMAIL_ADDRESS> please/)
  const stream = await post('/v1/chat/completions', { ...asked, stream: true })
  const texts = recordsOf(stream.body)
    .filter((record) => record !== '[DONE]')
    .map(
      (record) =>
        (JSON.parse(record) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content ?? '',
    )
  assert.equal(texts.join(''), 'mail me at <EMAIL_ADDRESS> please')
})

test('models: those that the config names, else those of the provider', async (t) => {
  const list = { object: 'list', data: [{ id: 'gpt-test', object: 'model' }] }
  const own = await setUp(t, json(list))
  assert.deepEqual(JSON.parse((await request(own.gateway.port(), { path: '/v1/models' })).body), list)
  const named = await setUp(
    t,
    json(list),
    { openai: { model: 'gpt-fixed' } },
    {
      backend: { ai: { modelAliases: { fast: 'gpt-fixed', 'any-*': 'gpt-fixed' } } },
    },
  )
  const answer = JSON.parse((await request(named.gateway.port(), { path: '/v1/models' })).body) as {
    data: { id: string }[]
  }
  assert.deepEqual(
    answer.data.map(({ id }) => id),
    ['fast', 'gpt-fixed'],
  )
})

test('aliases, overrides, defaults and transformations change the members they name and nothing else', async (t) => {
  const { origin, post } = await setUp(t, json(completion), undefined, {
    backend: {
      ai: {
        modelAliases: { fast: 'gpt-test' },
        defaults: [{ field: 'temperature', value: 0.5 }],
        overrides: [{ field: 'user', value: 'gateway' }],
        transformations: [{ field: 'seed', expression: 'size(llmRequest.messages)' }],
      },
    },
  })
  const answer = await post('/v1/chat/completions', { model: 'fast', messages: chat.messages, odd: '\u00e9' })
  assert.equal(answer.status, 200)
  const sent = { model: 'gpt-test', messages: chat.messages, odd: '\u00e9', user: 'gateway', seed: 1, temperature: 0.5 }
  assert.deepEqual(JSON.parse(origin.seen[0]!.body), sent)
})

test('embeddings pass, and their tokens are counted', async (t) => {
  const list = {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
    model: 'embed-1',
    usage: { prompt_tokens: 4, total_tokens: 4 },
  }
  const { origin, gateway, post } = await setUp(t, json(list), undefined, {
    rateLimit: { local: [{ tokens: 4, unit: 'Hours' }] },
  })
  const answer = await post('/v1/embeddings', { model: 'embed-1', input: 'hello' })
  assert.deepEqual([answer.status, JSON.parse(answer.body)], [200, list])
  assert.equal(origin.seen[0]?.url, '/v1/embeddings')
  await gateway.finished(1)
  assert.equal((await post('/v1/embeddings', { model: 'embed-1', input: 'hello' })).status, 429)
})

test('a provider that does not count tokens is counted for', async (t) => {
  const { origin, post } = await setUp(t, json({}))
  const body = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'one two three' }] }
  const answer = await post('/v1/messages/count_tokens', body)
  assert.equal(answer.status, 200)
  assert.deepEqual(JSON.parse(answer.body), { input_tokens: 10 })
  assert.equal(origin.seen.length, 0)
})

test('a compressed body is unpacked, within limits; an unknown encoding is a 415', async (t) => {
  const { origin, gateway } = await setUp(t, json(completion))
  const send = (bytes: Buffer, encoding: string) =>
    sendRaw(
      gateway.port(),
      Buffer.concat([
        Buffer.from(
          `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-encoding: ${encoding}\r\n` +
            `content-length: ${bytes.length}\r\n\r\n`,
        ),
        bytes,
      ]),
    )
  assert.equal((await send(gzipSync(JSON.stringify(chat)), 'gzip')).status, 200)
  assert.equal(origin.seen[0]?.body, JSON.stringify(chat))
  assert.equal(origin.seen[0]?.headers['content-encoding'], undefined)
  assert.equal((await send(gzipSync(Buffer.alloc(33 * 1024 * 1024, ' ')), 'gzip')).status, 413)
  assert.equal((await send(Buffer.from('{}'), 'gzip')).status, 400)
  assert.equal((await send(Buffer.from('{}'), 'rot13')).status, 415)
})

const refusedBodies: [string, string, RegExp][] = [
  ['no JSON', '{"model":', /must be JSON/],
  ['no object', '[]', /must be a JSON object/],
  ['one name twice', '{"model":"a","model":"b","messages":[]}', /twice/],
]
for (const [name, body, expected] of refusedBodies) {
  test(`refused with 400: ${name}`, async (t) => {
    const { gateway, origin } = await setUp(t, json(completion))
    const answer = await request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', body })
    assert.equal(answer.status, 400)
    assert.match(answer.body, expected)
    assert.equal(origin.seen.length, 0)
  })
}

test('a client that leaves in the middle of a stream is charged what came, marked as an estimate', async (t) => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  const endless: OriginHandler = (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let i = 0; i < 5; i++) response.write(`data: ${JSON.stringify(chunks[1])}\n\n`)
    response.on('close', () => arrive())
  }
  const { gateway, post } = await setUp(t, endless, undefined, {
    rateLimit: { local: [{ tokens: 5, unit: 'Hours' }] },
  })
  await exchangeRaw(
    gateway.port(),
    `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: ${JSON.stringify({ ...chat, stream: true }).length}\r\n\r\n` +
      JSON.stringify({ ...chat, stream: true }),
    (received) => received.split('llo').length > 5,
  )
  await arrived
  await gateway.finished(1)
  assert.equal((await post('/v1/chat/completions', chat)).status, 429)
})
