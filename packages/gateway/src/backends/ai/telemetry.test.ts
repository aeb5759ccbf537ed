import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, pathPrefix, useGateway, useOrigin } from '../../testing/scene.ts'

const chat = { model: 'gpt-test', messages: [{ role: 'user', content: 'hi' }] }
const usage = {
  prompt_tokens: 7,
  completion_tokens: 3,
  total_tokens: 10,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
}
const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-test-2026',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage,
}
const chunk = (choices: unknown[], rest: object = {}) =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'gpt-test-2026', choices, ...rest })}\n\n`
const delta = (value: object, finish: string | null = null) =>
  chunk([{ index: 0, delta: value, finish_reason: finish }])

/** A model that answers chats, streamed or not, and embeddings. */
const model: OriginHandler = ({ url, body }, response) => {
  if (url?.endsWith('/embeddings')) {
    const data = [{ object: 'embedding', index: 0, embedding: [0.5] }]
    response.setHeader('content-type', 'application/json')
    return response.end(
      JSON.stringify({ object: 'list', data, model: 'embed-2', usage: { prompt_tokens: 5, total_tokens: 5 } }),
    )
  }
  const { stream, model: asked } = JSON.parse(body) as { stream?: boolean; model: string }
  if (asked === 'none') {
    response.writeHead(404, { 'content-type': 'application/json' })
    return response.end(JSON.stringify({ error: { message: 'no such model', type: 'invalid_request_error' } }))
  }
  if (stream !== true) {
    response.setHeader('content-type', 'application/json')
    return response.end(JSON.stringify(completion))
  }
  response.setHeader('content-type', 'text/event-stream')
  // The role comes alone, as with the real one: no token yet.
  response.write(
    delta({ role: 'assistant' }) + delta({ content: 'hel' }) + delta({ content: 'lo' }) + delta({}, 'stop'),
  )
  return response.end(`${chunk([], { usage })}data: [DONE]\n\n`)
}

test('the line of a model call shows models and tokens, and that of another request nothing of them', async (t) => {
  const { gateway, post } = await setUp(t)
  await post('/v1/chat/completions', chat)
  await post('/plain', {})
  await gateway.finished(2)
  const [line, plain] = gateway.lines.map((text) => JSON.parse(text) as Record<string, unknown>)
  assert.deepEqual(modelFieldsOf(line!), {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-test',
    'gen_ai.response.model': 'gpt-test-2026',
    'gen_ai.usage.input_tokens': 7,
    'gen_ai.usage.output_tokens': 3,
    'gen_ai.usage.cache_read.input_tokens': 4,
    'gen_ai.usage.reasoning_tokens': 2,
  })
  assert.deepEqual([line!['protocol'], plain!['protocol']], ['llm', 'http'])
  assert.deepEqual(modelFieldsOf(plain!), {})
})

test('a stream has the times of its tokens, passed through as well as translated', async (t) => {
  const { gateway, post } = await setUp(t)
  await post('/v1/chat/completions', { ...chat, stream: true })
  await post('/v1/messages', { ...chat, max_tokens: 9, stream: true })
  await gateway.finished(2)
  for (const text of gateway.lines) {
    const line = JSON.parse(text) as Record<string, unknown>
    assert.equal(line['gen_ai.usage.output_tokens'], 3, text)
    assert.match(String(line['portico.ai.time_to_first_token']), /^[\d.]+ms$/, text)
    assert.match(String(line['portico.ai.time_per_output_token']), /^[\d.]+ms$/, text)
  }
  const metrics = gateway.metrics()
  assert.equal(sumOf(metrics, 'portico_gen_ai_server_time_to_first_token_count'), 2)
  assert.equal(sumOf(metrics, 'portico_gen_ai_server_time_per_output_token_count'), 2)
})

test('a stream of Messages passed through has the time of its first token too', async (t) => {
  const events = [
    {
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'claude-test',
        content: [],
        usage: { input_tokens: 7, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ]
  const { gateway, post } = await setUp(t, { anthropic: {} }, (_seen, response) => {
    response.setHeader('content-type', 'text/event-stream')
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
  })
  await post('/v1/messages', { ...chat, max_tokens: 9, stream: true })
  await gateway.finished(1)
  const line = JSON.parse(gateway.lines[0]!) as Record<string, unknown>
  assert.equal(line['gen_ai.provider.name'], 'anthropic')
  assert.equal(line['gen_ai.usage.output_tokens'], 3)
  assert.match(String(line['portico.ai.time_to_first_token']), /^[\d.]+ms$/)
})

test('a stream that breaks off is charged by what came, and says so', async (t) => {
  const { gateway, post } = await setUp(t, { openai: {} }, (_seen, response) => {
    response.setHeader('content-type', 'text/event-stream')
    response.write(delta({ content: 'hel' }) + delta({ content: 'lo' }), () => response.destroy())
  })
  await post('/v1/messages', { ...chat, max_tokens: 9, stream: true })
  const line = JSON.parse(gateway.lines[0]!) as Record<string, unknown>
  assert.equal(line['gen_ai.usage.estimated'], true)
  assert.equal(line['gen_ai.usage.output_tokens'], 2)
  assert.equal(sumOf(gateway.metrics(), 'portico_gen_ai_client_token_usage_sum', 'output'), 2)
})

test('a whole answer without counts is charged by what it says, passed through as well as translated', async (t) => {
  const { usage: _, ...uncounted } = completion
  const { gateway, post } = await setUp(t, { openai: {} }, (_seen, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(uncounted))
  })
  await post('/v1/chat/completions', chat)
  await post('/v1/messages', { ...chat, max_tokens: 9 })
  await gateway.finished(2)
  for (const text of gateway.lines) {
    const line = JSON.parse(text) as Record<string, unknown>
    assert.deepEqual([line['gen_ai.usage.estimated'], line['gen_ai.usage.output_tokens']], [true, 2])
    assert.ok(Number(line['gen_ai.usage.input_tokens']) > 0)
  }
})

test('tokens and durations are counted by operation and model, errors under an unknown one', async (t) => {
  const { gateway, post } = await setUp(t)
  await post('/v1/chat/completions', chat)
  await post('/v1/embeddings', { model: 'embed', input: 'hi' })
  await post('/v1/chat/completions', { ...chat, model: 'none' })
  await post('/plain', {})
  await gateway.finished(4)
  const metrics = gateway.metrics()
  const seen = samples(metrics, 'portico_gen_ai_server_request_duration_count').map((line) =>
    [...line.matchAll(/gen_ai_(?:operation_name|system|request_model|response_model)="([^"]*)"/g)].map((it) => it[1]),
  )
  assert.deepEqual(seen, [
    ['chat', 'openai', 'gpt-test', 'gpt-test-2026'],
    ['embeddings', 'openai', 'embed', 'embed-2'],
    ['chat', 'openai', 'none', 'unknown'],
  ])
  assert.equal(sumOf(metrics, 'portico_gen_ai_client_token_usage_sum', 'input'), 12)
  assert.equal(sumOf(metrics, 'portico_gen_ai_client_token_usage_sum', 'output'), 3)
  assert.equal(sumOf(metrics, 'portico_gen_ai_client_token_usage_sum', 'input_cache_read'), 4)
  const protocols = samples(metrics, 'portico_requests_total').map((line) => /protocol="(\w+)"/.exec(line)![1])
  assert.deepEqual(protocols, ['llm', 'llm', 'http'])
})

test('fields of model calls can be left out and replaced, and labels added', async (t) => {
  const frontend = {
    accessLog: {
      attributes: {
        remove: ['gen_ai.provider.name', 'gen_ai.usage.reasoning_tokens'],
        add: [{ name: 'gen_ai.request.model', expression: 'llm.requestModel + "!"' }],
      },
    },
    metrics: { attributes: { add: [{ name: 'tier', expression: 'request.headers["x-tier"]' }] } },
  }
  const { gateway, post } = await setUp(t, { openai: {} }, model, frontend)
  await post('/v1/chat/completions', chat, { 'x-tier': 'gold' })
  await gateway.finished(1)
  const line = JSON.parse(gateway.lines[0]!) as Record<string, unknown>
  assert.deepEqual(modelFieldsOf(line), {
    'gen_ai.operation.name': 'chat',
    'gen_ai.response.model': 'gpt-test-2026',
    'gen_ai.usage.input_tokens': 7,
    'gen_ai.usage.output_tokens': 3,
    'gen_ai.usage.cache_read.input_tokens': 4,
    'gen_ai.request.model': 'gpt-test!',
  })
  const counted = samples(gateway.metrics(), 'portico_gen_ai_client_token_usage_count')
  assert.ok(counted.length > 0 && counted.every((sample) => sample.includes('tier="gold"')))
})

async function setUp(t: TestContext, provider: object = { openai: {} }, handler = model, frontend: object = {}) {
  const origin = await useOrigin(t, handler)
  const plain = { ...pathPrefix('/plain'), policies: { directResponse: { status: 200, body: 'x' } } }
  const models = { backends: [{ ai: { provider: { ...provider, host: '127.0.0.1', port: origin.port } } }] }
  const gateway = await useGateway(t, httpConfig([plain, models], { frontend }), { logFormat: 'json' })
  let sent = 0
  /** Lines are in the order of the requests, because each is over before the next. */
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await request(gateway.port(), { method: 'POST', path, body: JSON.stringify(body), headers })
    await gateway.finished(++sent)
    return answer
  }
  return { gateway, post }
}

function modelFieldsOf(line: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(line).filter(([name]) => /^(gen_ai|portico)\./.test(name)))
}

function samples(metrics: string, name: string): string[] {
  return metrics.split('\n').filter((line) => line.startsWith(`${name}{`))
}

function sumOf(metrics: string, name: string, tokenType = ''): number {
  return samples(metrics, name)
    .filter((line) => tokenType === '' || line.includes(`gen_ai_token_type="${tokenType}"`))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0)
}
