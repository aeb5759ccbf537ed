import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { clientCalls, type StreamName } from './test-streams.ts'
import { type UsageConvention, usageConventions } from './testing/usage-conventions.ts'

/** Every vendor's way to report tokens gives one result in log, record, metrics and limits, on every way of an answer. */

const LIMIT = 1_000_000
/** Clients whose requests reach the upstream in that format: OpenAI is asked in the client's own where it has it. */
const CLIENTS: Readonly<Record<UsageConvention['format'], readonly StreamName[]>> = {
  completions: ['completions', 'messages'],
  messages: ['completions', 'messages', 'responses'],
  responses: ['responses'],
  gemini: ['completions', 'messages', 'responses'],
  converse: ['completions', 'messages', 'responses'],
}

for (const [name, convention] of Object.entries(usageConventions)) {
  describe(name, () => {
    for (const isStream of [false, true]) {
      for (const client of CLIENTS[convention.format]) {
        const way = client === convention.format ? 'as it came' : 'translated'
        test(`${isStream ? 'streamed' : 'whole'}, to a client of ${client}, ${way}`, async (t) => {
          const { ask, counted } = await setUp(t, convention, isStream)
          const answer = await ask(client)
          assert.equal(answer.status, 200, answer.body)
          await counted()
        })
      }
      test(`${isStream ? 'streamed' : 'whole'}, detected`, async (t) => {
        const { ask, counted } = await setUp(t, convention, isStream, { ai: { routes: { '*': 'Detect' } } })
        await ask(
          convention.format === 'gemini' || convention.format === 'converse' ? 'completions' : convention.format,
        )
        await counted()
      })
    }
  })
}

async function setUp(t: TestContext, convention: UsageConvention, isStream: boolean, backend: object = {}) {
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { 'content-type': isStream ? convention.streamType : 'application/json' })
    response.end(isStream ? convention.stream : convention.whole)
  })
  const route = {
    policies: {
      rateLimit: { local: [{ tokens: LIMIT, unit: 'Hours' }] },
      backend: { auth: { key: 'secret' }, ...backend },
    },
    backends: [{ ai: { provider: { ...convention.provider, host: '127.0.0.1', port: origin.port } } }],
  }
  const config = httpConfig([route], { frontend: { recorder: {} } })
  const gateway = await useGateway(t, config, { logFormat: 'json', monotonic: () => 0 })
  const ask = (client: StreamName) => {
    const { path, body } = clientCalls[client]
    const headers = { 'content-type': 'application/json' }
    return request(gateway.port(), {
      method: 'POST',
      path,
      headers,
      body: body({ model: convention.model, stream: isStream }),
    })
  }
  const counted = async () => {
    await gateway.finished(1)
    const { input, output, cacheRead, cacheWrite, reasoning } = convention.expected
    const expected = [input, output, cacheRead, cacheWrite, reasoning]
    const line = JSON.parse(gateway.lines[0]!) as Record<string, unknown>
    assert.equal(line['gen_ai.usage.estimated'], undefined)
    assert.deepEqual(
      LOG_FIELDS.map((field) => line[`gen_ai.usage.${field}`] ?? 0),
      expected,
      'the log',
    )
    const llm = gateway.recorded()[0]!.llm!
    assert.deepEqual(
      [llm.inputTokens, llm.outputTokens, llm.cacheReadTokens, llm.cacheWriteTokens, llm.reasoningTokens].map(
        (count) => count ?? 0,
      ),
      expected,
      'the record',
    )
    const metrics = gateway.metrics()
    assert.deepEqual(
      METRIC_TYPES.map((type) => sumOf(metrics, type)),
      expected.slice(0, 4),
      'the metrics',
    )
    const { headers } = await request(gateway.port())
    assert.equal(LIMIT - Number(headers['x-ratelimit-remaining']), input + output, 'the limit')
  }
  return { ask, counted }
}

const LOG_FIELDS = [
  'input_tokens',
  'output_tokens',
  'cache_read.input_tokens',
  'cache_creation.input_tokens',
  'reasoning_tokens',
]
const METRIC_TYPES = ['input', 'output', 'input_cache_read', 'input_cache_write']

function sumOf(metrics: string, type: string): number {
  return metrics
    .split('\n')
    .filter((line) => line.startsWith('portico_gen_ai_client_token_usage_sum{') && line.includes(`_type="${type}"`))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0)
}
