import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import { exceptionMessage } from '../../../../chat/src/testing/event-stream-message.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { clientCalls, INPUT, OUTPUT, vendorStreams } from './test-streams.ts'

/** A stream that consists of an error only, at the last provider: the client gets an HTTP error in its own format. */

const MESSAGE = 'too much to do'

interface Upstream {
  /** The client formats for which the provider is called in this format; all when absent. */
  clients?: readonly string[]
  provider: object
  model: string
  error: string | Buffer
  status: number
}

const google = { error: { code: 503, message: MESSAGE, status: 'UNAVAILABLE' } }
const failed = {
  type: 'response.failed',
  response: { id: 'r', status: 'failed', error: { code: 'rate_limit_exceeded', message: MESSAGE }, output: [] },
}

const azure = { provider: { azure: { resourceName: 'r', resourceType: 'OpenAI' } }, model: 'gpt-5.5' }

const upstreams: Record<string, Upstream> = {
  completions: {
    clients: ['completions', 'messages'],
    provider: { openai: {} },
    model: 'gpt-4.1',
    error: vendorStreams.completions.error,
    status: 503,
  },
  messages: { provider: { anthropic: {} }, model: 'claude-5', error: vendorStreams.messages.error, status: 529 },
  responses: { clients: ['messages', 'responses'], ...azure, error: vendorStreams.responses.error, status: 502 },
  'responses that failed': {
    clients: ['messages', 'responses'],
    ...azure,
    error: `event: response.failed\ndata: ${JSON.stringify(failed)}\n\n`,
    status: 429,
  },
  gemini: {
    provider: { gemini: {} },
    model: 'gemini-3-pro',
    error: `data: ${JSON.stringify(google)}\r\n\r\n`,
    status: 503,
  },
  converse: {
    provider: { bedrock: { region: 'us-east-1' } },
    model: 'anthropic.claude-sonnet-4-5',
    error: exceptionMessage('throttlingException', { message: MESSAGE }),
    status: 429,
  },
}

/** The members of errors that identify their format, without the texts. */
const shapes = {
  completions: ['error', 'error.code', 'error.message', 'error.param', 'error.type'],
  responses: ['error', 'error.code', 'error.message', 'error.param', 'error.type'],
  messages: ['error', 'error.message', 'error.type', 'type'],
}

for (const format of ['completions', 'messages', 'responses'] as const) {
  const { path, body } = clientCalls[format]
  describe(format, () => {
    for (const [name, upstream] of Object.entries(upstreams)) {
      if (upstream.clients?.includes(format) === false) continue
      test(`an error of ${name} in place of an answer has its status`, async (t) => {
        const { send, gateway } = await useProvider(t, upstream, [upstream.error])
        const answer = await send(path, body({ model: upstream.model }))
        assert.match(answer.headers['content-type'] ?? '', /^application\/json/)
        assert.deepEqual([answer.status, membersOf(answer.body)], [upstream.status, shapes[format]])
        assert.match(answer.body, /too much to do/)
        await gateway.finished(1)
        const { usage, isEstimated } = gateway.records[0]!.llm!
        // No response was sent, so nothing is charged.
        assert.deepEqual([usage, isEstimated], [{}, false])
        assert.deepEqual(gateway.bugs, [])
      })
    }

    test('a stream that ends before it has begun is a bad gateway', async (t) => {
      for (const name of ['completions', 'messages']) {
        const upstream = upstreams[name]!
        const { send } = await useProvider(t, upstream, [])
        const answer = await send(path, body({ model: upstream.model }))
        assert.deepEqual([answer.status, membersOf(answer.body)], [502, shapes[format]])
      }
    })
  })
}

test('guards of answers change nothing of it', async (t) => {
  const { path, body } = clientCalls.completions
  const { completions } = upstreams
  const guarded = { ai: { promptGuard: { response: [{ regex: { builtins: ['Email'] } }] } } }
  const { send } = await useProvider(t, completions!, [completions!.error], guarded)
  const answer = await send(path, body())
  assert.deepEqual([answer.status, membersOf(answer.body)], [503, shapes.completions])
})

test("after a failover of a translated stream only the last provider's usage counts", async (t) => {
  const { start, begin, piece, end, error } = vendorStreams.messages
  const answers = [error, start + begin + piece('hello') + end]
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answers.shift())
  })
  const groups = ['p0', 'p1'].map((name) => ({
    providers: [{ name, anthropic: {}, host: '127.0.0.1', port: origin.port }],
  }))
  const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { groups } }] }]))
  const { path, body, textOf } = clientCalls.completions
  const answer = await request(gateway.port(), { method: 'POST', path, body: body() })
  assert.deepEqual([answer.status, textOf(answer.body)], [200, 'hello'])
  await gateway.finished(1)
  const { usage, isEstimated, endedAt, firstTokenAt } = gateway.records[0]!.llm!
  assert.deepEqual([usage.input, usage.output, isEstimated], [INPUT, OUTPUT, false])
  assert.ok(endedAt >= firstTokenAt)
})

async function useProvider(
  t: TestContext,
  { provider }: Upstream,
  chunks: readonly (string | Buffer)[],
  more: object = {},
) {
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const chunk of chunks) response.write(chunk)
    response.end()
  })
  const backend = {
    ai: { provider: { ...provider, host: '127.0.0.1', port: origin.port } },
    policies: { auth: { key: 'k' }, ...more },
  }
  const gateway = await useGateway(t, httpConfig([{ backends: [backend] }]))
  const send = (path: string, body: string) => request(gateway.port(), { method: 'POST', path, body })
  return { gateway, send }
}

function membersOf(text: string): string[] {
  const body: { error: object } = JSON.parse(text)
  return [...Object.keys(body), ...Object.keys(body.error).map((name) => `error.${name}`)].toSorted()
}
