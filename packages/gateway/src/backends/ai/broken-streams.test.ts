import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import OpenAI from 'openai'
import { explain } from '../../explain/explain.ts'
import { loadConfig } from '../../sources/file.ts'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { closedPort, httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { clientCalls, type StreamName, vendorStreams } from './test-streams.ts'

/** A stream that ends early has failed in log, metric, record, trace and explanation, though its status is 200. */

const pairs: [client: StreamName, upstream: StreamName][] = [
  ['completions', 'completions'],
  ['messages', 'messages'],
  ['responses', 'responses'],
  ['completions', 'messages'],
  ['messages', 'completions'],
  ['responses', 'messages'],
  ['gemini', 'gemini'],
  ['gemini', 'completions'],
  ['gemini', 'messages'],
]

interface Ending {
  /** Sends the rest of the origin's response after the stream has begun. */
  rest: (stream: (typeof vendorStreams)[StreamName], response: Parameters<OriginHandler>[1]) => void
  /** Behavior of the response guard's webhook; omitted when the case has no guard. */
  guard?: 'rejects' | 'is deaf'
  reason: string
  outcome: string
  code: string
  error: RegExp
  says: RegExp
}

const endings: Readonly<Record<string, Ending>> = {
  'the connection dies': {
    rest: (_stream, response) => response.destroy(),
    reason: 'UpstreamFailure',
    outcome: 'failed',
    code: 'connection_lost',
    error: /closed/,
    says: /connection to .* was closed before the response was complete/,
  },
  'the provider sends an error': {
    rest: ({ error }, response) => response.end(error),
    reason: 'UpstreamFailure',
    outcome: 'failed',
    code: 'stream_error',
    error: /too much to do/,
    says: /provider .* sent an error in its stream.*too much to do/,
  },
  'the last event is missing': {
    rest: (_stream, response) => response.end(),
    reason: 'UpstreamFailure',
    outcome: 'failed',
    code: 'stream_incomplete',
    error: /too early/,
    says: /provider .* ended its stream before the response was complete/,
  },
  'the provider sends garbage': {
    rest: (_stream, response) => response.end('data: {"error"\n\n'),
    reason: 'UpstreamFailure',
    outcome: 'failed',
    code: 'stream_unreadable',
    error: /cannot be read/,
    says: /provider .* sent an invalid stream/,
  },
  'a guard refuses': {
    rest: ({ piece, end }, response) => response.end(piece('this is forbidden') + end),
    guard: 'rejects',
    reason: 'PromptGuard',
    outcome: 'denied',
    code: 'guard_reject',
    error: /./,
    says: /the webhook guard at `promptGuard\.response\[0\]` rejected the response/,
  },
  'a guard fails': {
    rest: ({ piece, end }, response) => response.end(piece('fine ').repeat(400) + end),
    guard: 'is deaf',
    reason: 'PromptGuard',
    outcome: 'failed',
    code: 'guard_failed',
    error: /./,
    says: /the webhook guard at `promptGuard\.response\[0\]` failed/,
  },
}

for (const [client, upstream] of pairs) {
  describe(`${client} of a provider of ${upstream}`, () => {
    for (const [name, ending] of Object.entries(endings)) {
      test(name, async (t) => {
        const { gateway, told, ask } = await setUp(t, { client, upstream, ending })
        const traced = gateway.trace()
        const answer = await ask()
        assert.equal(answer.status, 200)
        assert.notEqual(clientCalls[client].errorOf(answer.body), null, answer.body)
        await told(ending)
        const events = await traced
        assert.ok(
          events.some(({ severity }) => severity === 'error'),
          JSON.stringify(events),
        )
      })
    }

    test('the client leaves: its own outcome, and none of the provider', async (t) => {
      const left = Promise.withResolvers<void>()
      const { gateway, told } = await setUp(t, {
        client,
        upstream,
        ending: { rest: (_stream, response) => void response.on('close', () => left.resolve()) },
      })
      const { path, body } = clientCalls[client]
      const text = body()
      const socket = connect(gateway.port(), '127.0.0.1')
      socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: ${text.length}\r\n\r\n${text}`)
      await once(socket, 'data')
      socket.resetAndDestroy()
      await left.promise
      await told({ reason: 'ClientGone', outcome: 'aborted', code: 'client_gone', error: /./, says: /client/ })
      assert.equal(gateway.records[0]!.llm!.attempts[0]!.hasFailed, false)
    })
  })
}

test('a guard that fails says so to the client, and does not blame what was said', async (t) => {
  const ending = endings['a guard fails']!
  const { ask } = await setUp(t, { client: 'completions', upstream: 'completions', ending })
  assert.match((await ask()).body, /"code":"guardrail_failed"/)
})

describe('a Responses stream that passes as it came', () => {
  for (const name of ['the connection dies', 'the last event is missing', 'the provider sends garbage']) {
    test(`goes on with its numbers and its id: ${name}`, async (t) => {
      const ending = endings[name]!
      const { ask, gateway } = await setUp(t, { client: 'responses', upstream: 'responses', ending })
      const { body } = await ask()
      const events = [...body.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!) as ResponsesEvent)
      const numbers = events.map(({ sequence_number }) => sequence_number)
      assert.deepEqual(numbers, [0, 1, 2, 3, 3, 3, 4, 5])
      assert.deepEqual(
        events.slice(-2).map(({ type }) => type),
        ['error', 'response.failed'],
      )
      assert.equal(events.filter(({ type }) => type === 'response.created').length, 1)
      const ids = events.flatMap(({ response }) => response?.id ?? [])
      assert.deepEqual([...new Set(ids)], ['resp_1'])
      // The vendor's SDK reads the event as an error of the same response.
      const client = new OpenAI({ apiKey: 'k', baseURL: `http://127.0.0.1:${gateway.port()}/v1`, maxRetries: 0 })
      const stream = client.responses.stream({ model: 'm', input: 'hi' })
      await assert.rejects(stream.finalResponse(), ({ message }: Error) => ending.error.test(message))
    })
  }
})

interface ResponsesEvent {
  type: string
  sequence_number: number
  response?: { id: string }
}

for (const [client, upstream] of pairs) {
  test(`an error in the stream is charged what came before: ${client} of ${upstream}`, async (t) => {
    const pieces = 20
    const ending: Pick<Ending, 'rest'> = {
      rest: ({ piece, error }, response) => response.end(piece('word ').repeat(pieces) + error),
    }
    const { gateway, ask } = await setUp(t, { client, upstream, ending })
    await ask()
    await gateway.finished(1)
    const { llm } = gateway.records[0]!
    assert.ok(llm!.outputTokens >= pieces && llm!.outputTokens <= pieces + 8, String(llm!.outputTokens))
    assert.equal(llm!.isEstimated, true)
  })
}

interface Scene {
  client: StreamName
  upstream: StreamName
  ending: Pick<Ending, 'rest' | 'guard'>
}

async function setUp(t: TestContext, { client, upstream, ending }: Scene) {
  const stream = vendorStreams[upstream]
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(stream.start + stream.begin + stream.piece('word ').repeat(3), () => ending.rest(stream, response))
  })
  const webhook = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ action: { body: 'not here', status_code: 403 } }))
  })
  const guardPort = ending.guard === 'is deaf' ? await closedPort() : webhook.port
  const guard = { webhook: { backendRef: { name: 'webhook' } } }
  const promptGuard = ending.guard === undefined ? {} : { promptGuard: { response: [guard] } }
  const route = {
    policies: { backend: { auth: { key: 'secret' }, ai: promptGuard } },
    backends: [{ ai: { provider: { [stream.provider]: {}, host: '127.0.0.1', port: origin.port } } }],
  }
  const config = httpConfig([route], {
    frontend: { recorder: {} },
    backends: [{ name: 'webhook', static: { host: '127.0.0.1', port: guardPort } }],
  })
  const gateway = await useGateway(t, config, { logFormat: 'json' })
  const { path, body } = clientCalls[client]
  const ask = () => request(gateway.port(), { method: 'POST', path, body: body() })
  const told = async ({ reason, outcome, code, error, says }: Omit<Ending, 'rest' | 'guard'>) => {
    await gateway.finished(1)
    const line = JSON.parse(gateway.lines[0]!) as Record<string, unknown>
    assert.equal(line['reason'], reason, 'the log')
    assert.match(String(line['error']), error, 'the log')
    const record = gateway.recorded()[0]!
    assert.deepEqual([record.outcome, record.reason?.kind, record.reason?.code], [outcome, reason, code], 'the record')
    assert.match(gateway.metrics(), new RegExp(`^portico_requests_total\\{[^}]*reason="${reason}"[^}]*\\} 1$`, 'm'))
    const loaded = loadConfig(JSON.stringify(config), { file: 'gateway.yaml', dir: '.', env: {} })
    assert.ok(loaded.ok)
    const { ir, locate = () => null } = loaded
    const explained = explain(record, { isKnown: true, isEarlier: false, live: 1, ir, locate })
    assert.match(explained.headline, says)
    if (reason === 'UpstreamFailure') assert.notEqual(explained.decidedBy?.place, null, JSON.stringify(explained))
  }
  return { gateway, ask, told }
}
