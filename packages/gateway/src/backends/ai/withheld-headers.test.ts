import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { isCredentialHeader, KEY_HEADERS } from '../../redaction/credential-names.ts'
import { request } from '../../testing/client.ts'
import { httpConfig, until, useGateway, useOrigin } from '../../testing/scene.ts'

const SECRET = 'of-the-client'

/** Request headers that are for the gateway only and must not reach a vendor. */
const withheld: Readonly<Record<string, string>> = {
  cookie: `session=${SECRET}`,
  'proxy-authorization': `Basic ${SECRET}`,
  proxy_authorization: `Basic ${SECRET}`,
  'x-auth-token': SECRET,
  'x-amz-security-token': SECRET,
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-host': 'inside.example',
  'x-forwarded-client-cert': SECRET,
  'x-real-ip': '203.0.113.9',
  forwarded: 'for=203.0.113.9',
  'true-client-ip': '203.0.113.9',
}

const query = `key=${SECRET}&api-key=${SECRET}&Api_Key=${SECRET}&%6bey=${SECRET}&access_token=${SECRET}&trace=on`

const providers: Readonly<Record<string, object>> = {
  openai: { openai: {} },
  azure: { azure: { resourceName: 'a', resourceType: 'OpenAI' } },
  foundry: { azure: { resourceName: 'a', resourceType: 'Foundry', projectName: 'p' } },
  dated: { azure: { resourceName: 'a', resourceType: 'OpenAI', apiVersion: '2024-10-21' } },
  azureopenai: { azureopenai: { endpoint: 'a.openai.azure.com' } },
  anthropic: { anthropic: {} },
  gemini: { gemini: {} },
  vertexai: { vertexai: { projectId: 'p' } },
  bedrock: { bedrock: {} },
}

const chat = { model: 'claude-sonnet-4-5', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
const upgrade = { upgrade: 'websocket', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' }
const calls: Readonly<Record<string, { path: string; body?: object; headers?: Record<string, string> }>> = {
  completions: { path: '/v1/chat/completions', body: chat },
  messages: { path: '/v1/messages', body: chat },
  responses: { path: '/v1/responses', body: { model: 'gpt-5', input: 'hi' } },
  count: { path: '/v1/messages/count_tokens', body: chat },
  embeddings: { path: '/v1/embeddings', body: { model: 'amazon.titan-embed-text-v2:0', input: 'hi' } },
  models: { path: '/v1/models' },
  realtime: { path: '/v1/realtime', headers: { connection: 'upgrade', ...upgrade } },
  passthrough: { path: '/raw', body: chat },
  detect: { path: '/seen', body: chat },
}

const routes = {
  '/chat/completions': 'Completions',
  '/messages': 'Messages',
  '/responses': 'Responses',
  '/messages/count_tokens': 'MessagesTokenCount',
  '/embeddings': 'Embeddings',
  '/models': 'Models',
  '/realtime': 'Realtime',
  '/raw': 'Passthrough',
  '/seen': 'Detect',
}

async function setUp(t: TestContext, provider: object, backend: object, frontend: object = {}) {
  const origin = await useOrigin(t, (_seen, response) => response.writeHead(400).end('{}'))
  const route = {
    policies: { backend: { ai: { routes }, ...backend } },
    backends: [{ ai: { provider: { ...provider, host: '127.0.0.1', port: origin.port } } }],
  }
  const gateway = await useGateway(t, httpConfig([route], { frontend }))
  const ask = ({ path, body, headers }: (typeof calls)[string], more: Record<string, string> = {}) =>
    request(gateway.port(), {
      method: body === undefined ? 'GET' : 'POST',
      path: `${path}?${query}`,
      body: body === undefined ? '' : JSON.stringify(body),
      headers: { ...headers, ...withheld, ...more },
    })
  return { origin, gateway, ask }
}

describe('cookies, credentials and addresses of clients stay here', () => {
  const auth = { key: 'sk-gateway' }
  for (const [name, provider] of Object.entries(providers)) {
    test(`${name}: every kind of call`, async (t) => {
      // The gateway trusts the client's headers here, so no other rule removes them.
      const { origin, ask } = await setUp(t, provider, { auth }, { forwardedHeaders: { mode: 'Preserve' } })
      let asked = 0
      for (const call of Object.values(calls)) {
        const more = Object.fromEntries(['authorization', ...KEY_HEADERS].map((header) => [header, SECRET]))
        await ask(call, more)
        for (const { url, headers } of origin.seen.slice(asked)) {
          assert.ok(
            !(url + JSON.stringify(headers)).includes(SECRET),
            `${call.path}: ${url} ${JSON.stringify(headers)}`,
          )
          for (const header of Object.keys(withheld))
            assert.equal(headers[header], undefined, `${call.path}: ${header}`)
        }
        asked = origin.seen.length
      }
      assert.ok(asked >= 4, `${asked} calls`)
    })
  }

  test("without an auth policy the client's key for the vendor goes on, and nothing else", async (t) => {
    const { origin, ask } = await setUp(t, providers.anthropic!, {})
    await ask(calls.messages!, { 'x-api-key': 'sk-ant-own' })
    const { url, headers } = origin.seen[0]!
    assert.equal(headers['x-api-key'], 'sk-ant-own')
    assert.equal(url, '/v1/messages?trace=on')
    const shown = Object.keys(headers).filter((name) => isCredentialHeader(name) || name.startsWith('x-forwarded'))
    assert.deepEqual(shown, ['x-api-key'])
  })

  test('a provider that is asked after another one gets none of it either', async (t) => {
    const origin = await useOrigin(t, (_seen, response) => response.writeHead(503).end('{}'))
    const groups = ['openai', 'anthropic', 'gemini'].map((name) => ({
      providers: [
        { name, [name]: {}, host: '127.0.0.1', port: origin.port, policies: { auth: { key: `sk-${name}` } } },
      ],
    }))
    const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { groups } }] }]))
    const headers = { ...withheld, authorization: `Bearer ${SECRET}`, 'x-goog-api-key': SECRET }
    const path = `/v1/chat/completions?${query}`
    await request(gateway.port(), { method: 'POST', path, headers, body: JSON.stringify(chat) })
    await until(() => origin.seen.length === 3)
    const keys = origin.seen.map(({ headers }) => headers.authorization ?? headers['x-api-key'])
    assert.deepEqual(keys, ['Bearer sk-openai', 'sk-anthropic', 'Bearer sk-gemini'])
    for (const { url, headers } of origin.seen) assert.ok(!(url + JSON.stringify(headers)).includes(SECRET))
  })

  // Tokens of a chat for these providers are counted here.
  const { count: _counted, ...sent } = calls
  for (const [name, call] of Object.entries(sent)) {
    test(`without auth policies a client's key reaches the first provider only: ${name}`, async (t) => {
      const first = await useOrigin(t, (_seen, response) => response.writeHead(503).end('{}'))
      const second = await useOrigin(t, (_seen, response) => response.writeHead(503).end('{}'))
      const third = await useOrigin(t, (_seen, response) => response.writeHead(503).end('{}'))
      const at = ({ port }: typeof first, more: object = {}) => ({ host: '127.0.0.1', port, ...more })
      const groups = [
        { providers: [{ name: 'a', openai: {}, ...at(first) }] },
        { providers: [{ name: 'a-again', openai: {}, ...at(first) }] },
        { providers: [{ name: 'b', openai: {}, ...at(second) }] },
        { providers: [{ name: 'c', openai: {}, ...at(third, { policies: { auth: { passthrough: {} } } }) }] },
      ]
      const route = { policies: { backend: { ai: { routes } } }, backends: [{ ai: { groups } }] }
      const gateway = await useGateway(t, httpConfig([route]))
      const traced = gateway.trace()
      const headers = {
        ...call.headers,
        authorization: `Bearer ${SECRET}`,
        'sec-websocket-protocol': `realtime, openai-insecure-api-key.${SECRET}`,
      }
      const { path, body } = call
      const method = body === undefined ? 'GET' : 'POST'
      await request(gateway.port(), { method, path, headers, body: body === undefined ? '' : JSON.stringify(body) })
      const keys = [first, second, third].map(({ seen }) => seen.map((each) => each.headers.authorization))
      const bearer = `Bearer ${SECRET}`
      assert.deepEqual(keys, [[bearer, bearer], [undefined], [bearer]])
      assert.ok(!JSON.stringify(second.seen).includes(SECRET))
      const notes = (await traced).filter(({ message }) => message.type === 'llmKeyWithheld')
      assert.deepEqual(
        notes.map(({ message }) => message['provider']),
        ['b'],
      )
    })
  }

  test('a transformation gives a later provider the key that it names', async (t) => {
    const first = await useOrigin(t, (_seen, response) => response.writeHead(503).end('{}'))
    const second = await useOrigin(t, (_seen, response) => response.writeHead(400).end('{}'))
    const set = [{ name: 'authorization', value: '"Bearer " + request.headers["x-second-key"]' }]
    const policies = { transformation: { request: { set } } }
    const groups = [
      { providers: [{ name: 'a', openai: {}, host: '127.0.0.1', port: first.port }] },
      { providers: [{ name: 'b', anthropic: {}, host: '127.0.0.1', port: second.port, policies }] },
    ]
    const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { groups } }] }]))
    const headers = { authorization: `Bearer ${SECRET}`, 'x-second-key': 'sk-second' }
    await request(gateway.port(), {
      method: 'POST',
      path: calls.completions!.path,
      headers,
      body: JSON.stringify(chat),
    })
    assert.equal(first.seen[0]!.headers.authorization, `Bearer ${SECRET}`)
    assert.deepEqual(
      [second.seen[0]!.headers['x-api-key'], second.seen[0]!.headers.authorization],
      ['sk-second', undefined],
    )
  })

  test('a policy of the backend passes on what the config names', async (t) => {
    const set = [
      { name: 'cookie', value: 'request.headers["cookie"]' },
      { name: 'x-forwarded-for', value: 'source.address' },
      { name: 'x-auth-token', value: 'request.headers["x-auth-token"]' },
    ]
    const { origin, ask } = await setUp(t, providers.openai!, {
      auth: { key: 'sk' },
      transformation: { request: { set } },
    })
    for (const call of [calls.completions!, calls.passthrough!, calls.realtime!]) await ask(call)
    assert.equal(origin.seen.length, 3)
    for (const { headers } of origin.seen) {
      const { cookie, 'x-forwarded-for': address, 'x-auth-token': token } = headers
      assert.deepEqual([cookie, address, token], [`session=${SECRET}`, '127.0.0.1', SECRET])
      assert.equal(headers['proxy-authorization'], undefined)
    }
  })

  test('a credential that `auth` places in a cookie or a parameter goes there alone', async (t) => {
    for (const [location, expected] of [
      [{ cookie: { name: 'vendor' } }, ['vendor=sk-gateway', '/raw?trace=on']],
      [{ queryParameter: { name: 'key' } }, [undefined, '/raw?trace=on&key=sk-gateway']],
    ] as const) {
      const { origin, ask } = await setUp(t, providers.gemini!, { auth: { key: 'sk-gateway', location } })
      await ask(calls.passthrough!)
      assert.deepEqual([origin.seen[0]!.headers.cookie, origin.seen[0]!.url], expected)
    }
  })
})
