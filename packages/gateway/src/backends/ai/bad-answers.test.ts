import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { eventMessage } from '../../../../chat/src/testing/event-stream-message.ts'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { clientCalls, type StreamName } from './test-streams.ts'

/** Answers that a single provider should not have given: the client gets an error of its format that says why. */

const native: Readonly<Record<StreamName, object>> = {
  completions: { openai: {} },
  messages: { anthropic: {} },
  responses: { openai: {} },
  gemini: { gemini: {} },
}
const MEGABYTE = 1024 * 1024

interface Options {
  provider?: object
  frontend?: object
  ai?: object
}

async function setUp(t: TestContext, handler: OriginHandler, { provider, frontend = {}, ai = {} }: Options = {}) {
  const origin = await useOrigin(t, handler)
  const route = (own: object) => ({
    policies: { backend: { auth: { key: 'secret' }, ai } },
    backends: [{ ai: { provider: { ...own, host: '127.0.0.1', port: origin.port } } }],
  })
  const config = httpConfig([route(provider ?? { openai: {} })], { frontend })
  const gateway = await useGateway(t, config, { logFormat: 'json' })
  const ask = (client: StreamName, more: object = { stream: false }, body?: string) =>
    request(gateway.port(), {
      method: 'POST',
      path: clientCalls[client].path,
      body: body ?? clientCalls[client].body(more),
    })
  return { origin, gateway, ask }
}

const sends =
  (body: string | Buffer, type = 'application/json'): OriginHandler =>
  (_seen, response) => {
    response.writeHead(200, { 'content-type': type }).end(body)
  }

function completion(content: string): string {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
  return JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage: USAGE })
}

const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }

describe('an answer that is no JSON', () => {
  for (const client of ['completions', 'messages', 'responses'] as const) {
    for (const body of ['{"id": "c", "choices": [', '<html>welcome</html>', '[]', '']) {
      test(`is 502 for a client of ${client}: ${JSON.stringify(body)}`, async (t) => {
        const { gateway, ask } = await setUp(t, sends(body), { provider: native[client] })
        const answer = await ask(client)
        assert.equal(answer.status, 502)
        assert.match(JSON.stringify(JSON.parse(answer.body).error), /could not be read/)
        await gateway.finished(1)
        assert.deepEqual(
          [gateway.records[0]!.reason, gateway.records[0]!.error],
          ['UpstreamFailure', 'the answer of the provider could not be read'],
        )
      })
    }
  }
})

describe('a redirect', () => {
  for (const status of [301, 302, 307, 308]) {
    for (const headers of [{}, { location: 'http://elsewhere.example/v1' }] as Record<string, string>[]) {
      test(`${status} ${headers['location'] ?? 'without location'} is 502, and the log names its status`, async (t) => {
        const { gateway, ask } = await setUp(t, (_seen, response) => response.writeHead(status, headers).end())
        for (const [at, stream] of [false, true].entries()) {
          const answer = await ask('completions', { stream })
          assert.deepEqual([answer.status, answer.headers['location']], [502, undefined])
          assert.match(JSON.parse(answer.body).error.message, new RegExp(`redirect.*${status}`))
          await gateway.finished(at + 1)
          assert.match(gateway.records[at]!.error ?? '', new RegExp(`redirect.*${status}`))
        }
      })
    }
  }
})

describe('the size of bodies', () => {
  const image = 'A'.repeat(5 * MEGABYTE)

  test('a request with an image of 5 MB passes, as it came and translated', async (t) => {
    for (const provider of [{ openai: {} }, { anthropic: {} }]) {
      const { origin, ask } = await setUp(t, sends(completion('ok')), { provider })
      const content = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } }]
      await ask('completions', { stream: false, messages: [{ role: 'user', content }] })
      assert.ok(origin.seen[0]!.body.includes(image))
    }
  })

  test('an answer of 5 MB is translated', async (t) => {
    const { gateway } = await setUp(t, sends(completion(image)))
    const { path, body } = clientCalls.messages
    const answer = await fetch(`http://127.0.0.1:${gateway.port()}${path}`, {
      method: 'POST',
      body: body({ stream: false }),
      headers: { connection: 'close' },
    })
    const told = JSON.parse(await answer.text()) as { content: { text: string }[] }
    assert.deepEqual([answer.status, told.content[0]!.text === image], [200, true])
  })

  for (const [name, options] of [
    ['translated', {}],
    ['guarded', { ai: { promptGuard: { response: [{ regex: { builtins: ['Ssn'] } }] } } }],
  ] as const) {
    test(`an answer that is larger than the limit is 502 and says so: ${name}`, async (t) => {
      const frontend = { http: { maxBufferSize: 1000 } }
      const { gateway, ask } = await setUp(t, sends(completion('x'.repeat(2000))), { ...options, frontend })
      const { status, body } = await ask(name === 'guarded' ? 'completions' : 'messages')
      assert.equal(status, 502)
      assert.match(JSON.parse(body).error.message, /larger than 1000 bytes.*maxBufferSize/)
      await gateway.finished(1)
      assert.match(gateway.records[0]!.error ?? '', /larger than 1000 bytes/)
    })
  }

  test('embeddings that are larger than the limit say so', async (t) => {
    const data = [{ object: 'embedding', index: 0, embedding: Array<number>(1000).fill(0.5) }]
    const frontend = { http: { maxBufferSize: 1000 } }
    const handler = sends(JSON.stringify({ object: 'list', data, model: 'm' }))
    const { gateway } = await setUp(t, handler, { frontend })
    const path = '/v1/embeddings'
    const body = JSON.stringify({ model: 'm', input: 'hi' })
    const answer = await request(gateway.port(), { method: 'POST', path, body })
    assert.equal(answer.status, 502)
    assert.match(JSON.parse(answer.body).error.message, /larger than 1000 bytes.*maxBufferSize/)
  })

  test('an event of Bedrock of 5 MB passes', async (t) => {
    const text = 'B'.repeat(5 * MEGABYTE)
    const stream = Buffer.concat([
      eventMessage('messageStart', { role: 'assistant' }),
      eventMessage('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
      eventMessage('contentBlockStop', { contentBlockIndex: 0 }),
      eventMessage('messageStop', { stopReason: 'end_turn' }),
      eventMessage('metadata', { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } }),
    ])
    const provider = { bedrock: { region: 'us-east-1' } }
    const { gateway } = await setUp(t, sends(stream, 'application/vnd.amazon.eventstream'), { provider })
    const { path, body, textOf } = clientCalls.completions
    const url = `http://127.0.0.1:${gateway.port()}${path}`
    const answer = await fetch(url, { method: 'POST', body: body(), headers: { connection: 'close' } })
    assert.equal(textOf(await answer.text()) === text, true)
  })
})
