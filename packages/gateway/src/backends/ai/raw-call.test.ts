import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { WebSocket, WebSocketServer } from 'ws'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'

function aiRoute(port: number, routes: object, policies: object = {}, modelAliases: object = {}): object {
  const provider = { openai: {}, host: '127.0.0.1', port }
  return {
    policies: { ...policies, backend: { ai: { routes, modelAliases }, auth: { key: 'sk-gateway' } } },
    backends: [{ ai: { provider } }],
  }
}

const usage = { prompt_tokens: 4, completion_tokens: 6, total_tokens: 10 }

test('Passthrough sends bytes as they are, with the credential of the gateway, and counts nothing', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => response.end(JSON.stringify({ model: 'm', usage })))
  const rateLimit = { local: [{ tokens: 1, unit: 'Hours' }] }
  const gateway = await useGateway(t, httpConfig([aiRoute(origin.port, { '*': 'Passthrough' }, { rateLimit })]))
  for (let i = 1; i <= 2; i++) {
    const { status } = await request(gateway.port(), { method: 'PUT', path: '/v1/files?x=1', body: 'no json' })
    assert.equal(status, 200)
    await gateway.finished(i)
  }
  const seen = origin.seen[1]!
  assert.deepEqual([seen.method, seen.url, seen.body], ['PUT', '/v1/files?x=1', 'no json'])
  assert.equal(seen.headers['authorization'], 'Bearer sk-gateway')
})

test('Detect sends bytes as they are too, and finds usage in the answer', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => response.end(JSON.stringify({ model: 'm', usage })))
  const rateLimit = { local: [{ tokens: 10, unit: 'Hours' }] }
  const gateway = await useGateway(t, httpConfig([aiRoute(origin.port, { '*': 'Detect' }, { rateLimit })]))
  const send = async () => (await request(gateway.port(), { method: 'POST', path: '/v1/images', body: '{}' })).status
  assert.equal(await send(), 200)
  await gateway.finished(1)
  assert.equal(await send(), 429)
})

test('Detect reads the model that is asked for, in JSON and in forms, and leaves the bytes alone', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => response.end(JSON.stringify({ usage })))
  const gateway = await useGateway(t, httpConfig([aiRoute(origin.port, { '*': 'Detect' })]))
  const form = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--b--\r\n'
  const bodies = [
    ['application/json', '{ "model":"gpt-image-1",  "prompt":"x" }'],
    ['multipart/form-data; boundary=b', form],
  ] as const
  for (const [type, body] of bodies) {
    await request(gateway.port(), { method: 'POST', path: '/v1/x', headers: { 'content-type': type }, body })
  }
  await gateway.finished(2)
  assert.deepEqual(
    gateway.records.map(({ llm }) => llm!.requestModel),
    ['gpt-image-1', 'whisper-1'],
  )
  assert.deepEqual(
    origin.seen.map(({ body }) => body),
    bodies.map(([, body]) => body),
  )
})

for (const [encoding, encode] of Object.entries({ gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync })) {
  test(`Detect counts an answer that comes packed with ${encoding}, Passthrough lets it pass`, async (t) => {
    const packed = encode(Buffer.from(`data: ${JSON.stringify({ model: 'm', usage })}\n\n`))
    const origin = await useOrigin(t, (_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': encoding }).end(packed)
    })
    const routes = { '/detect': 'Detect', '*': 'Passthrough' }
    const gateway = await useGateway(t, httpConfig([aiRoute(origin.port, routes)]))
    const detected = await request(gateway.port(), { path: '/detect' })
    assert.match(detected.body, /^data: \{/)
    assert.equal(detected.headers['content-encoding'], undefined)
    const passed = await request(gateway.port(), { path: '/other' })
    assert.equal(passed.headers['content-encoding'], encoding)
    await gateway.finished(2)
    assert.equal(gateway.records[0]!.llm!.totalTokens, 10)
  })
}

test('a key that an error repeats is hidden, packed or not', async (t) => {
  const text = 'Incorrect API key: sk-gateway, or sk-g***way'
  const origin = await useOrigin(t, ({ url }, response) => {
    response.setHeader('www-authenticate', 'Bearer sk-gateway')
    if (url === '/plain') return void response.writeHead(401, { 'content-length': text.length }).end(text)
    response.writeHead(401, { 'content-encoding': 'gzip' }).end(gzipSync(text))
  })
  const routes = { '/detect': 'Detect', '*': 'Passthrough' }
  const gateway = await useGateway(t, httpConfig([aiRoute(origin.port, routes)]))
  for (const path of ['/plain', '/packed', '/packed/detect']) {
    const { status, body, headers } = await request(gateway.port(), { path })
    assert.deepEqual([status, body], [401, 'Incorrect API key: [redacted], or [redacted]'], path)
    assert.equal(headers['www-authenticate'], '[redacted]')
  }
})

test('Realtime is a WebSocket to the provider, with its model and the credential of the gateway', async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.after(() => server.close())
  await once(server, 'listening')
  const seen: { url: string | undefined; authorization: string | undefined }[] = []
  server.on('connection', (socket, { url, headers }) => {
    seen.push({ url, authorization: headers.authorization })
    socket.on('message', (data: Buffer) => socket.send(`echo ${data.toString()}`))
  })
  const { port } = server.address() as { port: number }
  const gateway = await useGateway(
    t,
    httpConfig([aiRoute(port, { '/realtime': 'Realtime' }, {}, { fast: 'gpt-realtime' })]),
  )
  const client = new WebSocket(`ws://127.0.0.1:${gateway.port()}/v1/realtime?model=fast`)
  t.after(() => client.terminate())
  await once(client, 'open')
  client.send('hello')
  const [answer] = (await once(client, 'message')) as [Buffer]
  assert.equal(String(answer), 'echo hello')
  assert.deepEqual(seen, [{ url: '/v1/realtime?model=gpt-realtime', authorization: 'Bearer sk-gateway' }])
})

/** Two providers of one vendor with one of another between them, each in a group of its own. */
async function useThree(t: TestContext, routes: object, first: OriginHandler) {
  const answer: OriginHandler = (_seen, response) => response.end(JSON.stringify({ model: 'm', usage }))
  const origins = [await useOrigin(t, first), await useOrigin(t, answer), await useOrigin(t, answer)] as const
  const groups = (['openai', 'anthropic', 'openai'] as const).map((vendor, at) => ({
    providers: [{ name: `p${at}`, [vendor]: {}, host: '127.0.0.1', port: origins[at]!.port }],
  }))
  const policies = { backend: { ai: { routes }, auth: { key: 'sk-gateway' } } }
  const gateway = await useGateway(t, httpConfig([{ policies, backends: [{ ai: { groups } }] }]))
  return { gateway, origins, counts: () => origins.map(({ seen }) => seen.length) }
}

const busy: OriginHandler = (_seen, response) => void response.writeHead(503).end()
const hangsUp: OriginHandler = (_seen, _response, message) => void message.socket.destroy()

for (const type of ['Detect', 'Passthrough']) {
  test(`${type}: trouble moves a request to another provider of the same vendor`, async (t) => {
    for (const [trouble, reason] of [
      [busy, 'status 503'],
      [hangsUp, 'connection_lost'],
    ] as const) {
      const { gateway, origins, counts } = await useThree(t, { '*': type }, trouble)
      const events = gateway.trace()
      const body = JSON.stringify({ model: 'm', input: 'x'.repeat(20_000) })
      const answer = await request(gateway.port(), { method: 'POST', path: '/v1/x', body })
      assert.equal(answer.status, 200)
      assert.deepEqual(counts(), [1, 0, 1])
      assert.equal(origins[2].seen[0]!.body, body)
      const moves = (await events).filter(({ message }) => message.type === 'llmFailover')
      assert.deepEqual([moves.length, moves[0]?.message['from'], moves[0]?.message['to']], [1, 'p0', 'p2'])
      assert.ok(String(moves[0]?.message['reason']).startsWith(reason))
      await gateway.finished(1)
      if (type === 'Detect') assert.match(gateway.lines[0]!, / portico\.ai\.attempts=p0:\w+,p2:200 /)
    }
  })
}

test('a body that is too large to be kept stays with the provider that got it', async (t) => {
  const { gateway, counts } = await useThree(t, { '*': 'Detect' }, busy)
  const answer = await request(gateway.port(), { method: 'POST', path: '/v1/x', body: 'x'.repeat(300_000) })
  assert.deepEqual([answer.status, counts()], [503, [1, 0, 0]])
})

for (const type of ['Detect', 'Completions']) {
  test(`${type}: a provider that is silent until the route's timeout has failed`, async (t) => {
    const silent = await useOrigin(t, () => {})
    const policies = { timeouts: { request: '50ms' } }
    const gateway = await useGateway(t, httpConfig([aiRoute(silent.port, { '*': type }, policies)]))
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    const { status } = await request(gateway.port(), { method: 'POST', path: '/v1/x', body })
    assert.equal(status, 504)
    await gateway.finished(1)
    assert.deepEqual(
      gateway.records[0]!.llm!.attempts.map(({ outcome, hasFailed }) => [outcome, hasFailed]),
      [['timeout', true]],
    )
    assert.match(gateway.metrics(), /gen_ai_provider_failures_total\{[^}]*="timeout"/)
  })
}

test('Detect forgets the usage of an attempt that was retried', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => {
    if (origin.seen.length > 1) return void response.end(JSON.stringify({ model: 'm' }))
    response.writeHead(503, { 'x-amzn-bedrock-input-token-count': 100, 'x-amzn-bedrock-output-token-count': 7 }).end()
  })
  const policies = { retry: { attempts: 1, codes: [503] } }
  const gateway = await useGateway(t, httpConfig([aiRoute(origin.port, { '*': 'Detect' }, policies)]))
  const { status } = await request(gateway.port(), { method: 'POST', path: '/v1/x', body: '{}' })
  assert.equal(status, 200)
  await gateway.finished(1)
  const { llm } = gateway.records[0]!
  assert.deepEqual([llm!.responseModel, llm!.usage], ['m', {}])
})
