import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import type { LlmRecord } from '../../records/llm-record.ts'
import { streamedChat } from '../../testing/model-call.ts'
import { Collector } from './metrics-collect.ts'
import { createRegion, MOST_LABEL_SETS, Registry } from './metrics.ts'
import { type AddedLabels, createRequestMetrics, type RequestOutcome } from './request-metrics.ts'

const PLACE = 'bind="bind/80",gateway="default/default",listener="web",route="api"'
const CHAT = 'gen_ai_operation_name="chat",gen_ai_system="openai",gen_ai_request_model="gpt-test"'
const LABELS = `${CHAT},gen_ai_response_model="gpt-test-2026",${PLACE}`

const byTeam: AddedLabels = {
  names: ['team'],
  valuesOf: (scope) => ['team' in scope ? String(scope.team) : 'unknown'],
}

test('tokens are counted by type, those of the cache apart', () => {
  const { record, lines } = start()
  record(streamedChat())
  record(streamedChat({ usage: { input: 1, output: 1 } }))
  const tokens = (type: string, value: number) => `{gen_ai_token_type="${type}",${LABELS}} ${value}`
  const cached = [tokens('input_cache_read', 20), tokens('input_cache_write', 5)]
  assert.deepEqual(lines('portico_gen_ai_client_token_usage_sum'), [
    tokens('input', 71),
    tokens('output', 31),
    ...cached,
  ])
  const counts = lines('portico_gen_ai_client_token_usage_count').map((line) => line.slice(line.lastIndexOf(' ')))
  assert.deepEqual(counts, [' 2', ' 2', ' 1', ' 1'])
})

test('calls of several models and operations are told apart, in whatever order they come', () => {
  const { record, lines } = start()
  const kinds: Partial<LlmRecord>[] = [
    { requestModel: 'a', responseModel: 'a-1' },
    { requestModel: 'a', responseModel: 'a-2' },
    { requestModel: 'b', responseModel: 'a-1' },
    { requestModel: 'a', responseModel: 'a-1', provider: 'other' },
    { requestModel: 'a', responseModel: 'a-1', operation: 'embeddings' },
  ]
  const order = [0, 0, 1, 0, 2, 2, 3, 4, 4, 0, 1, 3]
  for (const at of order) record(streamedChat(kinds[at]))
  const counts = lines('portico_gen_ai_server_request_duration_count').map((line) => Number(line.split(' ').at(-1)))
  assert.deepEqual(
    counts.toSorted((a, b) => a - b),
    [2, 2, 2, 2, 4],
  )
})

test('a stream is timed: all of it, to the first token, and for each further one', () => {
  const { record, lines } = start()
  record(streamedChat())
  assert.deepEqual(lines('portico_gen_ai_server_request_duration_sum'), [`{${LABELS}} 0.9`])
  assert.deepEqual(lines('portico_gen_ai_server_time_to_first_token_sum'), [`{${LABELS}} 0.25`])
  assert.deepEqual(lines('portico_gen_ai_server_time_per_output_token_sum'), [`{${LABELS}} 0.02`])
})

test('an answer that came at once has a duration only', () => {
  const { record, lines } = start()
  record(streamedChat({ streaming: false }))
  assert.equal(lines('portico_gen_ai_server_request_duration_count').length, 1)
  assert.deepEqual(lines('portico_gen_ai_server_time_to_first_token_count'), [])
  assert.deepEqual(lines('portico_gen_ai_server_time_per_output_token_count'), [])
})

test('a call that failed at the provider has an unknown model in its response', () => {
  const { record, lines } = start()
  record(streamedChat({ responseModel: '', usage: {}, firstTokenAt: -1, endedAt: -1 }))
  assert.deepEqual(lines('portico_gen_ai_server_request_duration_count'), [
    `{${CHAT},gen_ai_response_model="unknown",${PLACE}} 1`,
  ])
  assert.deepEqual(lines('portico_gen_ai_client_token_usage_count'), [])
})

test('a request that never reached a model is not counted as a model call', () => {
  const { record, lines } = start()
  record(streamedChat({ requestModel: '', responseModel: '' }))
  record(streamedChat({ provider: '' }))
  assert.deepEqual(lines('portico_gen_ai_server_request_duration_count'), [])
  const [requests] = lines('portico_requests_total')
  assert.match(requests!, /protocol="llm".* 2$/)
})

test('a model call and another request of one backend are counted apart', () => {
  const { record, lines } = start()
  record(streamedChat())
  record(null)
  assert.deepEqual(
    lines('portico_requests_total').map((line) => /protocol="(\w+)"/.exec(line)![1]),
    ['llm', 'http'],
  )
})

test('numbers of tokens that are none are left alone', () => {
  const { record, lines } = start()
  for (const input of [Infinity, NaN, 1e300, 0.5]) record(streamedChat({ usage: { input } }))
  assert.deepEqual(lines('portico_gen_ai_client_token_usage_count'), [])
})

test('labels that a config adds are on every metric of a model call', () => {
  const { recordAt, lines } = start()
  recordAt('api', streamedChat(), 'a')
  for (const name of ['client_token_usage', 'server_request_duration', 'server_time_to_first_token']) {
    const counted = lines(`portico_gen_ai_${name}_count`)
    assert.ok(counted.length > 0 && counted.every((line) => line.includes(',team="a"}')), name)
  }
})

test('models beyond the bound are counted as other, on all routes together, and told of once', () => {
  const { recordAt, lines, full } = start()
  for (let i = 0; i < 2 * MOST_LABEL_SETS; i += 1) {
    recordAt(`r${i % 3}`, streamedChat({ requestModel: `m${i}`, usage: {} }), `t${i % 2}`)
  }
  recordAt('r0', streamedChat({ requestModel: 'm0', usage: {} }), 't0')
  const counted = lines('portico_gen_ai_server_request_duration_count')
  const others = counted.filter((line) =>
    /gen_ai_system="openai",gen_ai_request_model="other",gen_ai_response_model="other",.*team="other"/.test(line),
  )
  assert.equal(counted.length - others.length, MOST_LABEL_SETS)
  assert.equal(others.length, 3)
  const sum = others.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0)
  assert.equal(sum, MOST_LABEL_SETS)
  assert.deepEqual(full, ['gen_ai_request_model,gen_ai_response_model'])
  assert.match(counted[0]!, /gen_ai_request_model="m0".* 2$/)
})

test('promtool finds nothing to say, whatever models are named', (t) => {
  const { record, text } = start()
  const nasty = ['with "quotes" \\ and\nlines', '\ud800', '\udfff', '\0', 'é', '', 'x'.repeat(1000)]
  for (const requestModel of nasty) record(streamedChat({ requestModel }))
  const result = spawnSync('promtool', ['check', 'metrics'], { input: text(), encoding: 'utf8' })
  if (result.error !== undefined) return t.skip(`promtool is not installed: ${result.error.message}`)
  assert.equal(result.status, 0, result.stdout + result.stderr)
})

function start() {
  const collector = new Collector()
  const region = createRegion()
  collector.attach('0', region)
  const registry = new Registry({ region, announce: (definition) => collector.define('0', definition) })
  const full: string[] = []
  const requestMetrics = createRequestMetrics(registry, (names) => full.push(names.join()))
  const labels = (route: string) => ({
    bind: 'bind/80',
    gateway: 'default/default',
    listener: 'web',
    route,
    backends: [{ name: 'models', protocol: 'http' }],
  })
  const recordApi = requestMetrics(labels('api'))
  const record = (llm: LlmRecord | null) => recordApi(outcome(llm), null)
  const recordAt = (route: string, llm: LlmRecord, team: string) =>
    requestMetrics(labels(route), byTeam)(outcome(llm), { team })
  const text = () => [...collector.render()].join('')
  /** The samples of one name, without it. */
  const lines = (name: string) =>
    text()
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`))
      .map((line) => line.slice(name.length))
  return { record, recordAt, lines, text, full }
}

function outcome(llm: LlmRecord | null): RequestOutcome {
  return {
    method: 'POST',
    status: 200,
    reason: 'Upstream',
    backendIndex: 0,
    retryAttempt: 0,
    requestBytes: 10,
    responseBytes: 53,
    startedAt: 1000,
    durationMs: 900,
    llm,
    mcp: null,
  }
}
