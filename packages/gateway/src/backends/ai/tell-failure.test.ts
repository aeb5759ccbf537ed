import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import { closedPort, httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'

/** Errors of the gateway itself on a route to models, in the format that each client's library expects. */

interface Options {
  policies?: object
  routes?: object
  port?: number
  others?: object[]
}

async function setUp(t: TestContext, { policies = {}, routes, port, others = [] }: Options = {}) {
  const provider = { openai: {}, host: '127.0.0.1', port: port ?? (await closedPort()) }
  const ai = routes === undefined ? {} : { ai: { routes } }
  const backends = [{ ai: { provider }, policies: ai }, ...others]
  const gateway = await useGateway(t, httpConfig([{ name: 'api', policies, backends }]))
  const send = (path: string, headers: Record<string, string> = {}, body = CHAT) =>
    request(gateway.port(), { method: 'POST', path, headers, body })
  return { gateway, send }
}

const CHAT = JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }], input: 'hi' })
const DENY = { authorization: { rules: [{ deny: 'true' }] } }
const detect = { '*': 'Detect' }
const passthrough = { '*': 'Passthrough' }
const denied = 'authorization failed'
const openai = { error: { message: denied, type: 'permission_error', param: null, code: null } }
const anthropic = { type: 'error', error: { type: 'permission_error', message: denied } }
const gemini = { error: { code: 403, message: denied, status: 'PERMISSION_DENIED' } }

const cases: [path: string, expected: object | string, routes?: object, headers?: Record<string, string>][] = [
  ['/v1/chat/completions', openai],
  ['/v1/responses', openai],
  ['/v1/embeddings', openai],
  ['/v1/models', openai],
  ['/v1/models', anthropic, undefined, { 'anthropic-version': '2023-06-01' }],
  ['/v1/messages?beta=true', anthropic],
  ['/v1/messages/count_tokens', anthropic],
  ['/v1/realtime', openai, { '/realtime': 'Realtime' }],
  ['/model/a.b-v1%3A0/converse', { message: denied }, detect],
  ['/model/a.b-v1:0/converse-stream', { message: denied }, passthrough],
  ['/model/a.b-v1:0/invoke-with-response-stream', { message: denied }, detect],
  ['/v1beta/models/gemini-2:streamGenerateContent?alt=sse', gemini, detect],
  ['/v1beta/models/gemini-2:generateContent', gemini],
  ['/v1beta/models/gemini-2:countTokens', gemini],
  ['/v1beta/models/gemini-2:batchEmbedContents', gemini],
  ['/v1beta/models', gemini],
  ['/v1beta/models/gemini-2:generateContent', gemini, { '/messages': 'Messages' }],
  ['/v1/messages', anthropic, passthrough],
  ['/v1/audio/speech', openai, detect],
  ['/anything', denied, detect],
  ['/v1/chat/completions', openai, { '*': 'Completions' }],
]

for (const [path, expected, routes, headers] of cases) {
  const type = routes === undefined ? '' : ` as ${Object.values(routes).join()}`
  test(`403 of ${path}${type}${headers === undefined ? '' : ' for Anthropic'}`, async (t) => {
    const { send } = await setUp(t, { policies: DENY, ...(routes !== undefined && { routes }) })
    const answer = await send(path, headers)
    assert.equal(answer.status, 403)
    const isText = typeof expected === 'string'
    assert.equal(answer.headers['content-type'], isText ? 'text/plain' : 'application/json')
    assert.deepEqual(isText ? answer.body : JSON.parse(answer.body), expected)
    const isBedrock = path.startsWith('/model/')
    assert.equal(answer.headers['x-amzn-errortype'], isBedrock ? 'AccessDeniedException' : undefined)
  })
}

test('every status has its word, and headers of the refusal stay', async (t) => {
  const basicAuthentication = { users: ['alice:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g='] }
  const { send } = await setUp(t, { policies: { basicAuthentication } })
  const answer = await send('/v1/messages')
  assert.equal(answer.status, 401)
  assert.match(answer.headers['www-authenticate'] ?? '', /^Basic realm=/)
  const { type, error } = JSON.parse(answer.body) as typeof anthropic
  assert.deepEqual([type, error.type], ['error', 'authentication_error'])
  assert.match(error.message, /^basic authentication failure: /)
})

test('a spent limit is a line of text, and in the format of those who ask for JSON', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => response.end('{}'))
  const rateLimit = { local: [{ requests: 1, unit: 'Hours' }] }
  const { send, gateway } = await setUp(t, { port: origin.port, policies: { rateLimit } })
  await send('/v1/chat/completions')
  const plain = await send('/v1/chat/completions', { accept: '*/*' })
  assert.deepEqual([plain.status, plain.body], [429, 'rate limit exceeded'])
  const told = await send('/v1/messages', { accept: 'application/json' })
  assert.equal(told.status, 429)
  assert.match(told.headers['retry-after'] ?? '', /^\d+$/)
  const error = { type: 'rate_limit_error', message: 'rate limit exceeded' }
  assert.deepEqual(JSON.parse(told.body), { type: 'error', error })
  await gateway.finished(3)
  // A call that was refused before a provider was chosen still counts as a model call.
  assert.deepEqual(
    gateway.records.map(({ protocol, reason }) => [protocol, reason]),
    [
      ['llm', 'Upstream'],
      ['llm', 'RateLimit'],
      ['llm', 'RateLimit'],
    ],
  )
  assert.match(gateway.lines[1]!, / protocol=llm .* gen_ai\.operation\.name=chat /)
  assert.match(gateway.metrics(), /portico_requests_total\{backend="unknown",protocol="llm",method="POST",status="429"/)
})

test('libraries of Bedrock and Gemini, which ask for nothing, read a spent limit', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => response.end('{}'))
  const rateLimit = { local: [{ requests: 1, unit: 'Hours' }] }
  const { send } = await setUp(t, { port: origin.port, routes: detect, policies: { rateLimit } })
  await send('/model/m/converse')
  const answer = await send('/model/m/converse')
  assert.deepEqual([answer.status, answer.body], [429, '{"message":"rate limit exceeded"}'])
  assert.equal(answer.headers['x-amzn-errortype'], 'ThrottlingException')
  const other = JSON.parse((await send('/v1beta/models/g:generateContent')).body) as typeof gemini
  assert.equal(other.error.status, 'RESOURCE_EXHAUSTED')
})

test('a provider that cannot be reached, or takes too long, is told in the format too', async (t) => {
  const { send } = await setUp(t)
  const refused = await send('/v1/chat/completions')
  assert.equal(refused.status, 503)
  const { error } = JSON.parse(refused.body) as typeof openai
  assert.deepEqual(
    [error.type, /^upstream call failed: .*ECONNREFUSED/.test(error.message)],
    ['overloaded_error', true],
  )
  const silent = await useOrigin(t, () => {})
  const slow = await setUp(t, { port: silent.port, policies: { timeouts: { request: '50ms' } } })
  const late = await slow.send('/v1/messages')
  assert.equal(late.status, 504)
  assert.deepEqual(JSON.parse(late.body), {
    type: 'error',
    error: { type: 'timeout_error', message: 'request timeout' },
  })
})

test("an unreadable request is refused in the client's format", async (t) => {
  const { send } = await setUp(t)
  const odd = await send('/v1/messages', { 'content-encoding': 'snappy' })
  assert.equal(odd.status, 415)
  assert.match((JSON.parse(odd.body) as typeof anthropic).error.message, /unsupported content encoding snappy/)
  const large = await send('/v1/chat/completions', {}, `{"x":"${'x'.repeat(34_000_000)}"}`)
  assert.equal(large.status, 413)
  assert.equal((JSON.parse(large.body) as typeof openai).error.message, 'request body too large to buffer')
})

test('a route that leads elsewhere too keeps to text, and so do requests that found none', async (t) => {
  const origin = await useOrigin(t)
  const { send, gateway } = await setUp(t, { policies: DENY, others: [{ host: origin.host }] })
  const { status, body } = await send('/v1/chat/completions')
  assert.deepEqual([status, body], [403, denied])
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.protocol, 'http')
})
