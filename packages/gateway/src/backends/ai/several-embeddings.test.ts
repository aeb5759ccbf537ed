import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'

/** Models that embed one text at a time, and clients that send several. */

const titan: OriginHandler = ({ body }, response) => {
  const { inputText } = JSON.parse(body) as { inputText: string }
  const answer = { embedding: [inputText.length, 0.5], inputTextTokenCount: inputText.length }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

async function setUp(t: TestContext, handler: OriginHandler) {
  const origin = await useOrigin(t, handler)
  const provider = { bedrock: { model: 'amazon.titan-embed-text-v2:0' }, host: '127.0.0.1', port: origin.port }
  const route = { policies: { backend: { auth: { key: 'sk' } } }, backends: [{ ai: { provider } }] }
  const gateway = await useGateway(t, httpConfig([route]), { logFormat: 'json' })
  const post = (body: object) =>
    request(gateway.port(), { method: 'POST', path: '/v1/embeddings', body: JSON.stringify(body) })
  return { origin, gateway, post }
}

test('each text is asked for by itself, and the client gets one list in its order', async (t) => {
  const { origin, gateway, post } = await setUp(t, titan)
  const { status, body } = await post({ model: 'any', input: ['a', 'bb', 'ccc'] })
  assert.equal(status, 200, body)
  const { data, usage } = JSON.parse(body) as {
    data: { index: number; embedding: number[] }[]
    usage: { prompt_tokens: number }
  }
  assert.deepEqual(
    data.map(({ index, embedding }) => [index, embedding[0]]),
    [
      [0, 1],
      [1, 2],
      [2, 3],
    ],
  )
  assert.equal(usage.prompt_tokens, 6)
  assert.equal(origin.seen.length, 3)
  await gateway.finished(1)
  // One provider was asked, however many requests that took.
  assert.equal(gateway.records[0]?.llm?.attempts.length, 1)
})

test('the trace names what the model is not told, once', async (t) => {
  const { gateway, post } = await setUp(t, titan)
  const traced = gateway.trace()
  const { status } = await post({ model: 'any', input: ['a', 'bb'], user: 'ann', priority: 3 })
  assert.equal(status, 200)
  const [asked, ...others] = (await traced).filter(({ message }) => message.type === 'llmRequest')
  assert.deepEqual(others, [])
  const { clientFormat, upstreamFormat, passedThrough, losses } = asked!.message
  assert.deepEqual([clientFormat, upstreamFormat, passedThrough], ['embeddings.openai', 'embeddings.titan', false])
  assert.deepEqual(losses, [
    { what: 'dropped', path: 'priority' },
    { what: 'dropped', path: 'user' },
  ])
})

test('an error at one of them is the answer', async (t) => {
  const { origin, post } = await setUp(t, (seen, response, ...rest) => {
    if (!seen.body.includes('bb')) return titan(seen, response, ...rest)
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"message":"too odd"}')
  })
  const { status, body } = await post({ model: 'any', input: ['a', 'bb', 'ccc'] })
  assert.equal(status, 400)
  assert.match(body, /too odd/)
  assert.equal(origin.seen.length, 2)
})

test('too many texts are refused before any is sent', async (t) => {
  const { origin, post } = await setUp(t, titan)
  const { status, body } = await post({ model: 'any', input: Array.from({ length: 257 }, () => 'a') })
  assert.equal(status, 400)
  assert.match(body, /at most 256 texts/)
  assert.equal(origin.seen.length, 0)
})
