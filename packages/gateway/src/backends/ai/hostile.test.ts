import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { clientCalls } from './test-streams.ts'

/** Attacks on LLM gateways: each class of known advisories, over sockets. */

const PATH = '/v1/chat/completions'
const KEY = 'sk-gateway-secret-key'
const messages = [{ role: 'user', content: 'hi' }]

const completion = (content: string) =>
  JSON.stringify({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  })

const answers: OriginHandler = (_seen, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(completion('hello'))
}

/** Providers, and the paths that their chats may use. */
const providers: [provider: Record<string, object>, path: RegExp][] = [
  [{ openai: {} }, /^\/v1\/(?:chat\/completions|responses)$/],
  [{ azureopenai: { endpoint: 'r.openai.azure.com' } }, /^\/openai\/v1\/(?:chat\/completions|responses)$/],
  [
    { azure: { resourceName: 'r', resourceType: 'OpenAI', apiVersion: '2024-10-21' } },
    /^\/openai\/deployments\/[^/?#]+\/chat\/completions\?api-version=2024-10-21$/,
  ],
  [{ anthropic: {} }, /^\/v1\/messages$/],
  [{ gemini: {} }, /^\/v1beta\/(?:models|tunedModels)\/[^/?#]+:generateContent$/],
  [
    { vertexai: { projectId: 'p' } },
    /^\/v1\/projects\/p\/locations\/global\/(?:publishers\/\w+\/models\/[^/?#]+:\w+|endpoints\/openapi\/chat\/completions)$/,
  ],
  [{ bedrock: {} }, /^\/model\/[^/?#]+\/converse$/],
]

for (const [provider, path] of providers) {
  const [name] = Object.keys(provider)

  test(`${name}: nothing of a request chooses where it goes`, async (t) => {
    const evil = await useOrigin(t)
    const { gateway, origin } = await setUp(t, answers, { provider })
    const url = `http://${evil.host}/v1`
    const places = ['api_base', 'base_url', 'baseURL', 'endpoint', 'host', 'url', 'proxy', 'callback_url']
    const fields = Object.fromEntries(places.map((place) => [place, url]))
    const config = {
      user_config: { model_list: [{ litellm_params: { api_base: url } }] },
      extra_headers: { host: url },
    }
    const headers = {
      host: evil.host,
      'x-forwarded-host': evil.host,
      forwarded: `host=${evil.host}`,
      'x-custom-host': url,
      'x-portkey-custom-host': url,
      'x-base-url': url,
      'openai-base-url': url,
      'x-amz-endpoint': url,
      'x-upstream': url,
    }
    for (const body of [{ ...fields }, config]) {
      await request(gateway.port(), {
        method: 'POST',
        path: PATH,
        headers,
        body: JSON.stringify({ model: 'm', messages, ...body }),
      })
    }
    assert.equal(evil.seen.length, 0)
    assert.equal(origin.seen.length, 2)
    for (const { headers: sent } of origin.seen) assert.equal(sent['host'], `127.0.0.1:${origin.port}`)
  })

  test(`${name}: a model says nothing in a path but its name`, async (t) => {
    const evil = await useOrigin(t)
    const { origin, post, gateway } = await setUp(t, answers, { provider })
    const models = [
      '../../../v1/files',
      `http://${evil.host}/x`,
      `//${evil.host}/x`,
      'a/../../b',
      '..',
      '.',
      'm?key=stolen',
      'm#x',
      'm\r\nx-evil: 1',
      'm\0',
      '%2e%2e/x',
      '%2F..%2F',
      'models/../../x',
      'publishers/anthropic/models/../../../x',
      'm\\..\\x',
      'm;x',
      'm:generateContent/../x',
    ]
    for (const model of models) {
      const known = origin.seen.length
      const { status } = await post({ model, messages })
      if (origin.seen.length === known) {
        assert.equal(status, 400, model)
        continue
      }
      const { url, headers } = origin.seen[known]!
      assert.match(url ?? '', path, model)
      assert.equal(headers['x-evil'], undefined)
    }
    assert.equal(evil.seen.length, 0)
    assert.deepEqual(gateway.bugs, [])
  })
}

test('a redirect of a provider is neither followed nor handed on', async (t) => {
  const evil = await useOrigin(t)
  for (const status of [301, 302, 307, 308]) {
    const { origin, post } = await setUp(t, (_seen, response) => {
      response.writeHead(status, { location: `http://${evil.host}/v1/chat/completions` }).end()
    })
    const answer = await post({ model: 'm', messages })
    assert.equal(answer.headers['location'], undefined)
    assert.equal(origin.seen.length, 1)
  }
  assert.equal(evil.seen.length, 0)
})

test('keys reach neither logs nor traces nor answers, and prompts no log', async (t) => {
  const { gateway, post } = await setUp(t, (_seen, response) => {
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: 'no such key', type: 'authentication_error' } }))
  })
  const events = gateway.trace()
  const prompt = 'my very private prompt'
  const answer = await post(
    { model: 'm', messages: [{ role: 'user', content: prompt }] },
    { authorization: 'Bearer sk-client-secret', 'x-api-key': 'sk-client-secret' },
  )
  assert.equal(answer.status, 401)
  await gateway.finished(1)
  const trace = JSON.stringify(await events)
  const log = gateway.lines.join('')
  for (const secret of [KEY, 'sk-client-secret']) {
    for (const [where, text] of Object.entries({ trace, log, answer: answer.text })) {
      assert.ok(!text.includes(secret), `${secret} in the ${where}`)
    }
  }
  assert.ok(!log.includes(prompt), 'the prompt in the log')
})

describe('ambiguous bodies are refused, or guarded as the provider reads them', () => {
  const guards = { promptGuard: { request: [{ regex: { builtins: ['Email'] } }] } }

  test('escapes hide nothing from a guard', async (t) => {
    const { origin, gateway } = await setUp(t, answers, { ai: guards })
    const body = '{"model":"m","messages":[{"role":"user","content":"I am \\u0061nn\\u0040example.com"}]}'
    await request(gateway.port(), { method: 'POST', path: PATH, body })
    assert.match(origin.seen[0]!.body, /I am <EMAIL_ADDRESS>/)
  })

  const bodies: [string, string | Buffer][] = [
    [
      'one name twice in a message',
      '{"model":"m","messages":[{"role":"user","content":"x","content":"ann@example.com"}]}',
    ],
    ['one name twice, once escaped', '{"model":"m","messages":[{"role":"user","content":"x","cont\\u0065nt":"y"}]}'],
    ['a name in other letters', '{"Model":"m","Messages":[{"role":"user","content":"x"}]}'],
    ['nesting without end', `{"model":"m","messages":${'['.repeat(100_000)}`],
  ]
  for (const [name, body] of bodies) {
    test(`400: ${name}`, async (t) => {
      const { origin, gateway } = await setUp(t, answers, { ai: guards })
      const answer = await request(gateway.port(), { method: 'POST', path: PATH, body: String(body) })
      assert.equal(answer.status, 400)
      assert.equal(origin.seen.length, 0)
      assert.deepEqual(gateway.bugs, [])
    })
  }
})

test('numbers that no provider should report are charged all the same', async (t) => {
  const numbers: [prompt: unknown, answer: unknown, left: string][] = [
    [0.5, 1.25, '98'],
    [1e308, 1e308, '0'],
    [-5, 3, '97'],
    ['7', 3, '97'],
  ]
  for (const [prompt, answer, left] of numbers) {
    const usage = { prompt_tokens: prompt, completion_tokens: answer, total_tokens: 0 }
    const body = JSON.stringify({ ...(JSON.parse(completion('hello')) as object), usage })
    const origin = await useOrigin(t, (_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    })
    const rateLimit = { local: [{ tokens: 100, unit: 'Hours' }] }
    const backends = [{ ai: { provider: { openai: {}, host: '127.0.0.1', port: origin.port } } }]
    const gateway = await useGateway(t, httpConfig([{ policies: { rateLimit }, backends }]))
    const post = () =>
      request(gateway.port(), { method: 'POST', path: PATH, body: JSON.stringify({ model: 'm', messages }) })
    await post()
    await gateway.finished(1)
    assert.equal((await post()).headers['x-ratelimit-remaining'], left, body)
    assert.deepEqual(gateway.bugs, [])
  }
})

test('texts of clients are never code', async (t) => {
  const ai = {
    transformations: [{ field: 'user', expression: 'llmRequest.user' }],
    prompt: { prepend: [{ role: 'system', content: 'Be {{ kind }}. ${1 + 1}' }] },
  }
  const { origin, post } = await setUp(t, answers, { ai })
  const code = 'request.headers["authorization"] + "${process.env.HOME}" + {{ 7 * 7 }}'
  await post({ model: 'm', messages: [{ role: 'user', content: code }], user: code })
  const sent = JSON.parse(origin.seen[0]!.body) as { user: string; messages: { content: string }[] }
  assert.equal(sent.user, code)
  assert.deepEqual(
    sent.messages.map(({ content }) => content),
    ['Be {{ kind }}. ${1 + 1}', code],
  )
})

test('clients that share connections to a provider get their own answers', async (t) => {
  const { post } = await setUp(t, (seen, response) => {
    const { messages: asked } = JSON.parse(seen.body) as { messages: { content: string }[] }
    const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
    const chunk = (delta: object, finish_reason: string | null) =>
      data({
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta, finish_reason }],
      })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const words = asked[0]!.content.split(' ')
    const next = (): void => {
      const word = words.shift()
      if (word === undefined) return void response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
      response.write(chunk({ content: `${word} ` }, null), () => setImmediate(next))
    }
    next()
  })
  const ask = async (id: number): Promise<void> => {
    const content = `client ${id} says ${id} and ${id} again`
    const answer = await post({ model: 'm', messages: [{ role: 'user', content }], stream: true })
    assert.equal(clientCalls.completions.textOf(answer.body), `${content} `)
  }
  for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 20 }, (_, id) => ask(20 * round + id)))
})

interface Setting {
  provider?: Record<string, object>
  ai?: object
}

async function setUp(t: TestContext, handler: OriginHandler, { provider = { openai: {} }, ai = {} }: Setting = {}) {
  const origin = await useOrigin(t, handler)
  const backend = {
    ai: { provider: { ...provider, host: '127.0.0.1', port: origin.port } },
    policies: { auth: { key: KEY }, ai },
  }
  const gateway = await useGateway(t, httpConfig([{ backends: [backend] }]), { logFormat: 'json' })
  const post = (body: object, headers: Record<string, string> = {}) =>
    request(gateway.port(), { method: 'POST', path: PATH, body: JSON.stringify(body), headers })
  return { origin, gateway, post }
}
