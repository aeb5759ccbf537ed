import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { explain } from '../../explain/explain.ts'
import { loadConfig } from '../../sources/file.ts'
import { request } from '../../testing/client.ts'
import { eventMessage, exceptionMessage } from '../../../../chat/src/testing/event-stream-message.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { vendorStreams } from './test-streams.ts'

/** Streams on routes of `Detect` and `Passthrough` pass as they came; that they ended early is said everywhere else. */

interface RawStream {
  type: string
  begun: Buffer
  end: Buffer
  error: Buffer
}

const SSE = 'text/event-stream'
const AWS = 'application/vnd.amazon.eventstream'
const record = (value: object) => Buffer.from(`data: ${JSON.stringify(value)}\n\n`)
const wrapped = (value: object) =>
  eventMessage('chunk', { bytes: Buffer.from(JSON.stringify(value)).toString('base64'), p: 'abc' })
const exception = exceptionMessage('throttlingException', { message: 'too much to do' })
const content = { parts: [{ text: 'word' }], role: 'model' }

const streams: Readonly<Record<string, RawStream>> = {
  ...Object.fromEntries(
    Object.entries(vendorStreams).map(([name, { start, begin, piece, end, error }]) => {
      const begun = start + begin + piece('{"error": "finishReason"}').repeat(12)
      return [name, { type: SSE, begun: Buffer.from(begun), end: Buffer.from(end), error: Buffer.from(error) }]
    }),
  ),
  gemini: {
    type: SSE,
    begun: record({
      candidates: [{ content: { parts: [{ functionCall: { name: 'f', args: { error: { message: 'x' } } } }] } }],
    }),
    end: record({ candidates: [{ content, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 3 } }),
    error: record({ error: { code: 503, message: 'too much to do', status: 'UNAVAILABLE' } }),
  },
  converse: {
    type: AWS,
    begun: Buffer.concat([
      eventMessage('messageStart', { role: 'assistant' }),
      eventMessage('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'word' } }),
    ]),
    end: Buffer.concat([
      eventMessage('messageStop', { stopReason: 'end_turn' }),
      eventMessage('metadata', { usage: { inputTokens: 1, outputTokens: 1 } }),
    ]),
    error: exception,
  },
  'Claude on Bedrock': {
    type: AWS,
    begun: wrapped({ type: 'message_start', message: { model: 'claude', usage: { input_tokens: 1 } } }),
    end: wrapped({ type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 1 } }),
    error: exception,
  },
  'Nova on Bedrock': {
    type: AWS,
    begun: wrapped({ messageStart: { role: 'assistant' } }),
    end: wrapped({ messageStop: { stopReason: 'end_turn' } }),
    error: exception,
  },
}

const NOTHING = Buffer.alloc(0)
const routeTypes = ['Detect', 'Passthrough'] as const

for (const routeType of routeTypes) {
  for (const [name, stream] of Object.entries(streams)) {
    describe(`${routeType}, a stream of ${name}`, () => {
      test('that is complete has passed', async (t) => {
        const { told } = await pass(t, { routeType, stream, rest: stream.end })
        await told({ outcome: 'passed', code: null })
      })

      test('without its last event has failed', async (t) => {
        const { told } = await pass(t, { routeType, stream, rest: NOTHING })
        await told({
          outcome: 'failed',
          code: 'stream_incomplete',
          attempt: 'unreadable',
          says: /before the response was/,
        })
      })

      test('with an error has failed', async (t) => {
        const { told } = await pass(t, { routeType, stream, rest: stream.error })
        await told({ outcome: 'failed', code: 'stream_error', attempt: 'error_in_body', says: /too much to do/ })
      })

      test('that is nothing but an error has failed', async (t) => {
        const { told } = await pass(t, { routeType, stream: { ...stream, begun: NOTHING }, rest: stream.error })
        await told({ outcome: 'failed', code: 'stream_error', attempt: 'error_in_body', says: /too much to do/ })
      })
    })
  }

  test(`${routeType}: a message of AWS that is cut has failed`, async (t) => {
    const stream = streams['Claude on Bedrock']!
    const { told } = await pass(t, { routeType, stream, rest: stream.end.subarray(0, 20) })
    await told({ outcome: 'failed', code: 'stream_incomplete', attempt: 'unreadable', says: /before the response was/ })
  })

  test(`${routeType}: a message of AWS with a wrong checksum has failed`, async (t) => {
    const stream = streams['converse']!
    const rest = Buffer.from(stream.end)
    rest[rest.length - 1]! ^= 1
    const { told } = await pass(t, { routeType, stream, rest })
    await told({ outcome: 'failed', code: 'stream_unreadable', attempt: 'unreadable', says: /checksum/ })
  })

  test(`${routeType}: of a stream in an unknown format nobody knows`, async (t) => {
    const stream = { type: SSE, begun: record({ step: 1, error: null }), end: NOTHING, error: NOTHING }
    const { told } = await pass(t, { routeType, stream, rest: NOTHING })
    await told({ outcome: 'passed', code: null })
  })
}

const list = (...pieces: object[]) => Buffer.from(`[${pieces.map((piece) => JSON.stringify(piece)).join('\n,\n')}`)
const listed = { candidates: [{ content }] }
const listEnds: [name: string, rest: Buffer, code: string | null][] = [
  ['complete', Buffer.from(`,${JSON.stringify({ candidates: [{ content, finishReason: 'STOP' }] })}]`), null],
  ['without a reason to finish', Buffer.from(']'), 'stream_incomplete'],
  ['cut', Buffer.from(',{"cand'), 'stream_incomplete'],
  ['with an error', Buffer.from(',{"error":{"code":503,"message":"too much to do"}}]'), 'stream_error'],
]

for (const [name, rest, code] of listEnds) {
  test(`Detect: a list that Gemini streams, ${name}`, async (t) => {
    const stream = { type: 'application/json', begun: list(listed), end: NOTHING, error: NOTHING }
    const { told } = await pass(t, { routeType: 'Detect', stream, rest })
    await told({ outcome: code === null ? 'passed' : 'failed', code })
  })
}

test('the log does not show the key that an error in a stream repeats', async (t) => {
  const stream = streams['completions']!
  const error = record({ error: { message: 'no more for sk-gateway', type: 'server_error' } })
  const { gateway } = await pass(t, { routeType: 'Passthrough', stream, rest: error })
  assert.match(gateway.lines[0]!, /no more for \[redacted\]/)
})

test('a stream that fails speaks against its provider', async (t) => {
  const stream = streams['completions']!
  const { gateway } = await pass(t, {
    routeType: 'Passthrough',
    stream,
    rest: NOTHING,
    policies: { health: { eviction: { duration: '10s', consecutiveFailures: 1 } } },
  })
  assert.equal(gateway.evictions.length, 1)
})

interface Scene {
  routeType: (typeof routeTypes)[number]
  stream: RawStream
  rest: Buffer
  policies?: object
}

interface Verdict {
  outcome: string
  code: string | null
  attempt?: string
  says?: RegExp
}

async function pass(t: TestContext, { routeType, stream, rest, policies = {} }: Scene) {
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { 'content-type': stream.type })
    if (stream.begun.length === 0) return void response.end(rest)
    response.write(stream.begun, () => response.end(rest))
  })
  const route = {
    policies: { backend: { auth: { key: 'sk-gateway' }, ai: { routes: { '*': routeType } }, ...policies } },
    backends: [{ ai: { provider: { openai: {}, host: '127.0.0.1', port: origin.port } } }],
  }
  const config = httpConfig([route], { frontend: { recorder: {} } })
  const gateway = await useGateway(t, config, { logFormat: 'json' })
  const traced = gateway.trace()
  const answer = await request(gateway.port(), { method: 'POST', path: '/x', body: '{"model":"m"}' })
  assert.equal(answer.status, 200)
  const sent = Buffer.concat([stream.begun, rest])
  assert.equal(answer.body, sent.toString('latin1'), 'bytes pass as they came')
  await gateway.finished(1)
  const told = async ({ outcome, code, attempt, says }: Verdict) => {
    const reason = code === null ? 'Upstream' : 'UpstreamFailure'
    const line = JSON.parse(gateway.lines[0]!) as Record<string, unknown>
    assert.equal(line['reason'], code === null ? undefined : reason, 'the log')
    const stored = gateway.recorded()[0]!
    assert.deepEqual([stored.outcome, stored.reason?.code ?? null], [outcome, code], 'the record')
    assert.match(gateway.metrics(), new RegExp(`^portico_requests_total\\{[^}]*reason="${reason}"[^}]*\\} 1$`, 'm'))
    const failures = (await traced).filter(({ message }) => message.type === 'llmAnswerFailed')
    assert.deepEqual(
      failures.map(({ message }) => message['code']),
      code === null ? [] : [code],
      'the trace',
    )
    const asked = gateway.records[0]!.llm?.attempts[0]
    if (routeType === 'Detect' && attempt !== undefined) assert.deepEqual([asked?.outcome], [attempt])
    if (says === undefined) return
    const loaded = loadConfig(JSON.stringify(config), { file: 'gateway.yaml', dir: '.', env: {} })
    assert.ok(loaded.ok)
    const { ir, locate = () => null } = loaded
    assert.match(explain(stored, { isKnown: true, isEarlier: false, live: 1, ir, locate }).headline, says)
  }
  return { gateway, told }
}
