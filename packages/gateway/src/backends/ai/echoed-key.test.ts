import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { clientCalls, type StreamName, vendorStreams } from './test-streams.ts'

/** A provider that repeats the key it was shown: errors are told without it, answers are the client's own. */

const KEY = 'sk-gateway-secret-key'
const SAID = `Incorrect API key provided: ${KEY}`

const pairs: readonly [client: StreamName, provider: StreamName][] = [
  ['completions', 'completions'],
  ['messages', 'messages'],
  ['responses', 'responses'],
  ['completions', 'messages'],
  ['messages', 'completions'],
  ['responses', 'messages'],
  ['gemini', 'gemini'],
  ['gemini', 'completions'],
]

async function ask(t: TestContext, [client, provider]: (typeof pairs)[number], handler: OriginHandler, more: object) {
  const origin = await useOrigin(t, handler)
  const vendor = { [vendorStreams[provider].provider]: {}, host: '127.0.0.1', port: origin.port }
  const gateway = await useGateway(
    t,
    httpConfig([{ policies: { backend: { auth: { key: KEY } } }, backends: [{ ai: { provider: vendor } }] }]),
  )
  const traced = gateway.trace()
  const { path: streamPath, wholePath = streamPath, body } = clientCalls[client]
  const path = 'stream' in more ? wholePath : streamPath
  const answer = await request(gateway.port(), { method: 'POST', path, body: body(more) })
  await gateway.finished(1)
  assert.deepEqual(gateway.bugs, [])
  // Nowhere but in the answer, whatever that is.
  const told = JSON.stringify(await traced) + gateway.lines.join('')
  assert.ok(!told.includes(KEY), 'the key in the trace or in the log')
  return answer
}

function json(body: unknown, status: number, headers: Record<string, string> = {}): OriginHandler {
  return (_seen, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
}

function events(text: string): OriginHandler {
  return (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
  }
}

const echo = { 'www-authenticate': `Bearer error_description="${SAID}"`, 'x-asked-with': KEY }
const errorBody = {
  completions: { error: { message: SAID, type: 'invalid_request_error', param: KEY, code: KEY } },
  messages: { type: 'error', error: { type: 'authentication_error', message: SAID } },
  responses: { error: { message: SAID, type: 'invalid_request_error', param: null, code: 'invalid_api_key' } },
  gemini: { error: { code: 401, message: SAID, status: 'UNAUTHENTICATED', details: [{ metadata: { key: KEY } }] } },
}

const answerBody = {
  completions: {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: SAID }, finish_reason: 'stop' }],
  },
  messages: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: SAID }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  responses: {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output: [
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: SAID, annotations: [] }],
      },
    ],
  },
  gemini: { candidates: [{ content: { role: 'model', parts: [{ text: SAID }] }, finishReason: 'STOP' }] },
}

for (const pair of pairs) {
  const [client, provider] = pair
  const vendor = vendorStreams[provider]
  const error = vendor.error.replace('too much to do', SAID)

  describe(`${client} to ${provider}`, () => {
    const errors: Record<string, [handler: OriginHandler, more: object]> = {
      'with its status': [json(errorBody[provider], 401, echo), { stream: false }],
      'with its status, in place of a stream': [json(errorBody[provider], 401, echo), {}],
      'with status 200': [json(errorBody[provider], 200, echo), { stream: false }],
      'in place of a stream, with status 200': [events(error), {}],
      'in a stream': [events(vendor.start + vendor.begin + vendor.piece('Hel') + error), {}],
    }
    for (const [name, [handler, more]] of Object.entries(errors)) {
      test(`an error ${name}: without the key`, async (t) => {
        const { body, headers } = await ask(t, pair, handler, more)
        assert.ok(!body.includes(KEY), body)
        assert.ok(!JSON.stringify(headers).includes(KEY), JSON.stringify(headers))
        assert.ok(body.includes('Incorrect API key provided: [redacted]'), body)
      })
    }

    test('an answer: as the provider gave it', async (t) => {
      const whole = await ask(t, pair, json(answerBody[provider], 200), { stream: false })
      assert.ok(whole.body.includes(SAID), whole.body)
      const stream = vendor.start + vendor.begin + vendor.piece(SAID) + vendor.end
      const { body } = await ask(t, pair, events(stream), {})
      assert.equal(clientCalls[client].textOf(body), SAID)
    })
  })
}
