import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { closedPort, httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { type Pick, usePicker } from '../../testing/services/picker.ts'
import { immediate } from '../../testing/services/processor.ts'

const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
const id = { id: 'c1', created: 1, model: 'llama' }

/** A model server that speaks Chat Completions, streamed or not. */
const model: OriginHandler = ({ body }, response) => {
  const { stream } = JSON.parse(body) as { stream?: boolean }
  response.setHeader('content-type', stream === true ? 'text/event-stream' : 'application/json')
  if (stream !== true) {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
    return response.end(JSON.stringify({ ...id, object: 'chat.completion', choices, usage }))
  }
  const chunk = (choices: unknown[], rest: object = {}) =>
    `data: ${JSON.stringify({ ...id, object: 'chat.completion.chunk', choices, ...rest })}\n\n`
  response.write(chunk([{ index: 0, delta: { role: 'assistant', content: 'hello' }, finish_reason: null }]))
  response.write(chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]))
  return response.end(`${chunk([], { usage })}data: [DONE]\n\n`)
}

async function setUp(t: TestContext, pick?: Pick, away: string | null = null, policies: object = {}) {
  const servers = [await useOrigin(t, model), await useOrigin(t, model), await useOrigin(t, model)]
  const [first, second, other] = servers.map(({ host }) => host)
  const picker = await usePicker(t, pick ?? (() => second!))
  const inferencePool = { endpoints: [first, second], picker: { backendRef: { host: away ?? picker.host } } }
  const [host, port] = other!.split(':')
  const groups = [
    { providers: [{ name: 'pool', openai: { model: 'llama' }, inferencePool }] },
    { providers: [{ name: 'other', openai: { model: 'llama' }, host, port: Number(port) }] },
  ]
  const gateway = await useGateway(t, httpConfig([{ policies, backends: [{ ai: { groups } }] }]))
  const ask = (stream = false, content = 'hi') => {
    const body = JSON.stringify({ model: 'any', max_tokens: 9, stream, messages: [{ role: 'user', content }] })
    const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' }
    return request(gateway.port(), { method: 'POST', path: '/v1/messages', headers, body })
  }
  return { gateway, picker, servers, ask }
}

test('the picker sees the translated call, and the client gets its own format, with tokens in the record', async (t) => {
  const { gateway, picker, servers, ask } = await setUp(t)
  for (const stream of [false, true]) {
    const answer = await ask(stream)
    assert.equal(answer.status, 200)
    assert.match(answer.body, /"type": ?"message(_start)?"[^]*hello/)
  }
  const asked = JSON.parse(picker.asked[0]?.body ?? '') as { model: string; messages: unknown[] }
  assert.deepEqual([asked.model, asked.messages], ['llama', [{ role: 'user', content: 'hi' }]])
  assert.deepEqual(
    servers.map(({ seen }) => seen.length),
    [0, 2, 0],
  )
  await gateway.finished(2)
  for (const { llm } of gateway.recorded()) assert.deepEqual([llm?.inputTokens, llm?.outputTokens], [7, 3])
  assert.deepEqual(gateway.bugs, [])
})

test('the next provider is called when the picker denies the call or fails', async (t) => {
  const denied = await setUp(t, () => immediate(429, 'busy'))
  const away = await setUp(t, undefined, `127.0.0.1:${await closedPort()}`)
  for (const { gateway, servers, ask } of [denied, away]) {
    assert.equal((await ask()).status, 200)
    assert.deepEqual(
      servers.map(({ seen }) => seen.length),
      [0, 0, 1],
    )
    await gateway.finished(1)
    assert.deepEqual([gateway.records[0]?.reason, gateway.bugs], ['Upstream', []])
  }
})

test('prompt guards hold before the picker sees a call, and on what the model server answers', async (t) => {
  const guard = (pattern: string, action: 'Mask' | 'Reject') => [{ regex: { matches: [pattern], action } }]
  const masking = { request: guard('bob@[a-z.]+', 'Mask'), response: guard('hello', 'Mask') }
  const masked = await setUp(t, undefined, null, { backend: { ai: { promptGuard: masking } } })
  for (const stream of [false, true]) {
    const answer = await masked.ask(stream, 'I am bob@example.com')
    assert.equal(answer.status, 200)
    assert.doesNotMatch(answer.body, /hello/)
  }
  for (const { body } of masked.picker.asked) assert.doesNotMatch(body, /bob@/)
  for (const { body } of masked.servers[1]?.seen ?? []) assert.doesNotMatch(body, /bob@/)
  assert.equal(masked.servers[1]?.seen.length, 2)
  const rejectingGuards = { request: guard('secret', 'Reject') }
  const rejecting = await setUp(t, undefined, null, { backend: { ai: { promptGuard: rejectingGuards } } })
  assert.equal((await rejecting.ask(false, 'a secret')).status, 403)
  assert.deepEqual([rejecting.picker.asked.length, rejecting.servers.flatMap(({ seen }) => seen)], [0, []])
})

test('token limits count the tokens of calls to a pool', async (t) => {
  const rateLimit = { local: [{ tokens: 10, unit: 'Hours' }] }
  const { gateway, picker, ask } = await setUp(t, undefined, null, { rateLimit })
  assert.equal((await ask(true)).status, 200)
  await gateway.finished(1)
  assert.equal((await ask()).status, 429)
  assert.equal(picker.asked.length, 1)
})
