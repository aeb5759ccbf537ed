import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { WebSocket, WebSocketServer, type ClientOptions } from 'ws'
import { request } from '../../testing/client.ts'
import { closedPort, httpConfig, useGateway, useOrigin, useTcpServer } from '../../testing/scene.ts'
import type { TestGatewayOptions } from '../../testing/gateway.ts'

const usage = {
  total_tokens: 30,
  input_tokens: 20,
  output_tokens: 10,
  input_token_details: { text_tokens: 12, audio_tokens: 8, cached_tokens: 4 },
  output_token_details: { text_tokens: 3, audio_tokens: 7 },
}
const created = { type: 'response.created', response: { id: 'resp_1' } }
const delta = { type: 'response.output_text.delta', delta: 'hel' }
const done = { type: 'response.done', response: { id: 'resp_1', status: 'completed', usage } }

const openai = { openai: {} }
const azure = { azure: { resourceName: 'acme', resourceType: 'OpenAI' } }

/** A vendor that begins with its session and answers each message as it is told to. */
async function useVendor(t: TestContext, answer: (socket: WebSocket, text: string) => void, options: object = {}) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', ...options })
  t.after(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  await once(server, 'listening')
  const seen: { url: string | undefined; headers: Record<string, unknown> }[] = []
  server.on('connection', (socket, { url, headers }) => {
    seen.push({ url, headers })
    socket.send(JSON.stringify({ type: 'session.created', session: { model: 'gpt-realtime-2026' } }))
    socket.on('message', (data: Buffer) => answer(socket, data.toString()))
  })
  return { port: (server.address() as AddressInfo).port, seen }
}

async function useRealtime(
  t: TestContext,
  port: number,
  { provider = openai, policies = {}, frontend = {}, ...options }: Setting = {},
) {
  const ai = { routes: { '/realtime': 'Realtime' } }
  const route = {
    policies: { ...policies, backend: { ai, auth: { key: 'sk-gateway' } } },
    backends: [{ ai: { provider: { ...provider, host: '127.0.0.1', port } } }],
  }
  const gateway = await useGateway(t, httpConfig([route], { frontend }), { logFormat: 'json', ...options })
  const open = async (protocols: string[] = [], more: ClientOptions = {}) => {
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.port()}/v1/realtime?model=gpt-realtime`, protocols, more)
    t.after(() => socket.terminate())
    const messages: string[] = []
    const waiting = new Set<() => void>()
    socket.on('message', (data: Buffer) => {
      messages.push(data.toString())
      for (const look of waiting) look()
    })
    await once(socket, 'open')
    /** Resolves when that many messages have come. */
    const received = (count: number) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (messages.length >= count) resolve()
        }
        waiting.add(look)
        look()
      })
    return { socket, messages, received }
  }
  return { gateway, open }
}

interface Setting extends TestGatewayOptions {
  provider?: object
  policies?: object
  frontend?: object
}

async function closed(socket: WebSocket): Promise<void> {
  socket.close()
  await once(socket, 'close')
}

const respond = (socket: WebSocket) => {
  for (const event of [created, delta, done]) socket.send(JSON.stringify(event))
}

for (const [name, provider, path] of [
  ['openai', openai, '/v1/realtime?model=gpt-realtime'],
  ['azure', azure, '/openai/v1/realtime?model=gpt-realtime'],
] as const) {
  test(`${name}: tokens of a session are in the log, in expressions and in metrics`, async (t) => {
    const vendor = await useVendor(t, respond)
    const attributes = { add: [{ name: 'spent', expression: 'llm.totalTokens' }] }
    const { gateway, open } = await useRealtime(t, vendor.port, { provider, frontend: { accessLog: { attributes } } })
    const { socket, messages, received } = await open()
    socket.send('{"type":"response.create"}')
    socket.send('{"type":"response.create"}')
    await received(7)
    assert.deepEqual(
      messages.slice(1, 4),
      [created, delta, done].map((event) => JSON.stringify(event)),
    )
    await closed(socket)
    await gateway.finished(1)
    const line = JSON.parse(gateway.lines[0]!) as Record<string, unknown>
    const shown = Object.entries(line).filter(([key]) => /^(gen_ai\.|spent$|http\.status$|protocol$)/.test(key))
    assert.deepEqual(Object.fromEntries(shown), {
      protocol: 'llm',
      'http.status': 101,
      'gen_ai.operation.name': 'realtime',
      'gen_ai.provider.name': name,
      'gen_ai.request.model': 'gpt-realtime',
      'gen_ai.response.model': 'gpt-realtime-2026',
      'gen_ai.usage.input_tokens': 40,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.cache_read.input_tokens': 8,
      'gen_ai.usage.input_audio_tokens': 16,
      'gen_ai.usage.output_audio_tokens': 14,
      spent: 60,
    })
    assert.deepEqual(
      [...gateway.metrics().matchAll(/^portico_gen_ai_client_token_usage_sum\{.*token_type="(\w+)".*\} (\d+)$/gm)].map(
        ([, type, sum]) => `${type} ${sum}`,
      ),
      ['input 40', 'output 20', 'input_cache_read 8'],
    )
    assert.equal(vendor.seen[0]!.url, path)
    assert.deepEqual(gateway.bugs, [])
  })
}

describe('a token limit', () => {
  test('is charged while the session lasts, and the next one is refused', async (t) => {
    const vendor = await useVendor(t, respond)
    const policies = { rateLimit: { local: [{ tokens: 30, unit: 'Hours' }] } }
    const { gateway, open } = await useRealtime(t, vendor.port, { policies })
    const first = await open()
    const second = await open()
    first.socket.send('go')
    await first.received(4)
    // The session goes on although nothing is left.
    first.socket.send('go')
    await first.received(7)
    const { status, body } = await request(gateway.port(), { path: '/v1/realtime' })
    assert.deepEqual([status, body], [429, 'rate limit exceeded'])
    await closed(first.socket)
    await closed(second.socket)
    await gateway.finished(3)
    assert.equal(vendor.seen.length, 2)
  })

  test('is charged once for what was used', async (t) => {
    const vendor = await useVendor(t, respond)
    const policies = { rateLimit: { local: [{ tokens: 61, unit: 'Hours' }] } }
    const { gateway, open } = await useRealtime(t, vendor.port, { policies, monotonic: () => 0 })
    for (let i = 1; i <= 2; i++) {
      const { socket, received } = await open()
      socket.send('go')
      await received(4)
      await closed(socket)
      await gateway.finished(i)
    }
    const { headers } = await request(gateway.port(), { path: '/v1/realtime' })
    assert.equal(headers['x-ratelimit-remaining'], '1')
  })
})

test('numbers that no provider should report are charged all the same, and break nothing', async (t) => {
  const odd = { input_tokens: 0.25, output_tokens: 1.5 }
  const vendor = await useVendor(t, (socket) => {
    socket.send(JSON.stringify({ type: 'response.done', response: { usage: odd } }))
    socket.send(JSON.stringify({ type: 'response.done', response: { usage: { output_tokens: 1e308 } } }))
    respond(socket)
  })
  const policies = { rateLimit: { local: [{ tokens: 1000, unit: 'Hours' }] } }
  const { gateway, open } = await useRealtime(t, vendor.port, { policies })
  const { socket, messages, received } = await open()
  socket.send('go')
  await received(6)
  assert.equal(messages.at(-1), JSON.stringify(done))
  await closed(socket)
  await gateway.finished(1)
  assert.equal((await request(gateway.port(), { path: '/v1/realtime' })).status, 429)
  assert.deepEqual(gateway.bugs, [])
})

test('a session that breaks off in a response is charged what was reported and an estimate of the rest', async (t) => {
  const vendor = await useVendor(t, (socket, text) => {
    if (text === 'whole') return respond(socket)
    for (const event of [created, delta, delta]) socket.send(JSON.stringify(event))
    socket.send('last', () => socket.terminate())
  })
  const { gateway, open } = await useRealtime(t, vendor.port)
  const { socket, received } = await open()
  socket.send('whole')
  await received(4)
  socket.send('half')
  await once(socket, 'close')
  await gateway.finished(1)
  const line = JSON.parse(gateway.lines[0]!) as Record<string, unknown>
  assert.equal(line['gen_ai.usage.output_tokens'], 12)
  assert.equal(line['gen_ai.usage.estimated'], true)
})

test('fragments, pings and binary messages pass, and events in fragments count', async (t) => {
  const large = 'x'.repeat(200_000)
  const vendor = await useVendor(t, (socket) => {
    const event = JSON.stringify({ ...done, padding: large })
    socket.send(event.slice(0, 5), { fin: false })
    socket.ping()
    socket.send(event.slice(5, 70_000), { fin: false })
    socket.send(event.slice(70_000), { fin: true })
    socket.send(Buffer.from([0, 1, 2]))
  })
  const { gateway, open } = await useRealtime(t, vendor.port)
  const { socket, messages, received } = await open()
  socket.send('go')
  await received(3)
  assert.equal(messages[1], JSON.stringify({ ...done, padding: large }))
  assert.equal(messages[2], '\0\x01\x02')
  await closed(socket)
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.llm!.totalTokens, 30)
  assert.equal(gateway.records[0]!.llm!.isEstimated, false)
})

test('an event larger than the buffer passes, is not counted, and the log says that something is missing', async (t) => {
  const large = JSON.stringify({ ...done, padding: 'x'.repeat(5_000) })
  const vendor = await useVendor(t, (socket) => {
    socket.send(large)
    respond(socket)
  })
  const { gateway, open } = await useRealtime(t, vendor.port, { frontend: { http: { maxBufferSize: 4_096 } } })
  const { socket, messages, received } = await open()
  socket.send('go')
  await received(5)
  assert.equal(messages[1], large)
  await closed(socket)
  await gateway.finished(1)
  const { totalTokens, isEstimated } = gateway.records[0]!.llm!
  assert.deepEqual([totalTokens, isEstimated], [30, true])
})

test('packing is not offered to the provider, so that events can be read', async (t) => {
  const vendor = await useVendor(t, respond, { perMessageDeflate: { threshold: 0 } })
  const { gateway, open } = await useRealtime(t, vendor.port)
  const { socket, received } = await open([], { perMessageDeflate: { threshold: 0 } })
  assert.equal(socket.extensions, '')
  assert.equal(vendor.seen[0]!.headers['sec-websocket-extensions'], undefined)
  socket.send('go')
  await received(4)
  await closed(socket)
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.llm!.totalTokens, 30)
})

test("a browser's key among the protocols does not reach the provider", async (t) => {
  const vendor = await useVendor(t, respond)
  const { open } = await useRealtime(t, vendor.port)
  const { socket } = await open(['realtime', 'openai-insecure-api-key.sk-client'])
  assert.equal(socket.protocol, 'realtime')
  const { headers } = vendor.seen[0]!
  assert.deepEqual([headers['sec-websocket-protocol'], headers['authorization']], ['realtime', 'Bearer sk-gateway'])
})

test('bytes that are no frames pass as they are, both ways', async (t) => {
  const garbage = Buffer.from([0x8f, 0xff, 1, 2, 3, 0xff, 0xff])
  const vendor = await useTcpServer(t, (socket) => {
    socket.once('data', () => {
      const head = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
      // With the head and after it: both are read in other ways.
      socket.write(Buffer.concat([Buffer.from(head), garbage]))
      socket.once('data', (back: Buffer) => socket.end(Buffer.concat([back, garbage])))
    })
  })
  const { gateway } = await useRealtime(t, vendor.port)
  const socket = connect(gateway.port(), '127.0.0.1')
  const chunks: Buffer[] = []
  let isAnswered = false
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    if (isAnswered || !Buffer.concat(chunks).includes(garbage)) return
    isAnswered = true
    socket.write('back')
  })
  socket.write(
    'GET /v1/realtime?model=m HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n',
  )
  await once(socket, 'close')
  const received = Buffer.concat(chunks)
  const body = received.subarray(received.indexOf('\r\n\r\n') + 4)
  assert.deepEqual(body, Buffer.concat([garbage, Buffer.from('back'), garbage]))
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.llm!.isEstimated, true)
  assert.deepEqual(gateway.bugs, [])
})

test('a provider that refuses is heard, and the trace says that guards do not look', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}')
  })
  const guard = [{ regex: { builtins: ['Email'] } }]
  const ai = { routes: { '/realtime': 'Realtime' }, promptGuard: { request: guard, response: guard } }
  const route = {
    policies: { backend: { ai } },
    backends: [{ ai: { provider: { ...openai, host: '127.0.0.1', port: origin.port } } }],
  }
  const gateway = await useGateway(t, httpConfig([route]))
  const events = gateway.trace()
  const socket = new WebSocket(`ws://127.0.0.1:${gateway.port()}/v1/realtime?model=m`)
  const [error] = (await once(socket, 'error')) as [Error]
  assert.match(error.message, /401/)
  const notes = (await events).filter(({ message }) => message.type === 'promptGuard')
  assert.deepEqual(
    notes.map(({ severity, message }) => [severity, message['phase'], message['verdict']]),
    [
      ['warn', 'request', 'notRun'],
      ['warn', 'response', 'notRun'],
    ],
  )
})

describe('trouble moves a connection to the next group', () => {
  const troubles: [string, number | 'refused', RegExp][] = [
    ['429', 429, /^status 429$/],
    ['503', 503, /^status 503$/],
    ['nobody listens', 'refused', /^connect_failed: /],
  ]
  for (const [name, trouble, reason] of troubles) {
    test(name, async (t) => {
      const vendor = await useVendor(t, respond)
      const down = trouble === 'refused' ? await closedPort() : (await useRefusing(t, trouble)).port
      const groups = [down, vendor.port].map((port, index) => ({
        providers: [{ name: `p${index}`, openai: {}, host: '127.0.0.1', port }],
      }))
      const route = { policies: { backend: { ai: { routes: { '*': 'Realtime' } } } }, backends: [{ ai: { groups } }] }
      const gateway = await useGateway(t, httpConfig([route]))
      const events = gateway.trace()
      const socket = new WebSocket(`ws://127.0.0.1:${gateway.port()}/v1/realtime?model=m`)
      const [first] = (await once(socket, 'message')) as [Buffer]
      assert.match(first.toString(), /session\.created/)
      await closed(socket)
      const moves = (await events).filter(({ message }) => message.type === 'llmFailover')
      assert.deepEqual(
        moves.map(({ message }) => [message['from'], message['to']]),
        [['p0', 'p1']],
      )
      assert.match(String(moves[0]!.message['reason']), reason)
      assert.deepEqual(gateway.bugs, [])
    })
  }

  test('401 is about the request', async (t) => {
    const vendor = await useVendor(t, respond)
    const refusing = await useRefusing(t, 401)
    const groups = [refusing.port, vendor.port].map((port, index) => ({
      providers: [{ name: `p${index}`, openai: {}, host: '127.0.0.1', port }],
    }))
    const route = { policies: { backend: { ai: { routes: { '*': 'Realtime' } } } }, backends: [{ ai: { groups } }] }
    const gateway = await useGateway(t, httpConfig([route]))
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.port()}/v1/realtime?model=m`)
    const [error] = (await once(socket, 'error')) as [Error]
    assert.match(error.message, /401/)
    assert.equal(vendor.seen.length, 0)
  })

  function useRefusing(t: TestContext, status: number) {
    return useOrigin(t, (_seen, response) => response.writeHead(status).end('{}'))
  }
})

describe('a provider that repeats the key it was shown', () => {
  const KEY = 'sk-gateway'
  const error = (message: string) => ({
    type: 'error',
    event_id: 'e1',
    error: { type: 'invalid_request_error', message },
  })
  /** As the client gets the messages of a provider that sends these, after the one that begins the session. */
  async function heard(t: TestContext, sent: readonly object[]) {
    const vendor = await useVendor(t, (socket) => {
      for (const event of sent) socket.send(JSON.stringify(event))
    })
    const { gateway, open } = await useRealtime(t, vendor.port)
    const { socket, messages, received } = await open()
    socket.send('go')
    await received(1 + sent.length)
    await closed(socket)
    await gateway.finished(1)
    assert.deepEqual(gateway.bugs, [])
    return { messages: messages.slice(1), llm: gateway.records[0]!.llm! }
  }

  test('is not heard with it in an error, whole or half hidden; what comes around it is the same', async (t) => {
    const { messages, llm } = await heard(t, [
      created,
      error(`Incorrect API key provided: ${KEY}.`),
      error('Incorrect API key provided: sk-g***ay.'),
      { type: 'response.done', response: { status: 'failed', status_details: { error: { message: KEY } }, usage } },
    ])
    assert.equal(messages[0], JSON.stringify(created))
    assert.equal(messages[1], JSON.stringify(error('Incorrect API key provided: [redacted].')))
    assert.equal(messages[2], JSON.stringify(error('Incorrect API key provided: [redacted].')))
    assert.doesNotMatch(messages[3]!, /sk-gateway/)
    assert.equal(llm.totalTokens, 30)
  })

  test("says what it wants elsewhere: texts of a session are the client's own", async (t) => {
    const spoken = { type: 'response.output_text.delta', delta: `${KEY} "error"` }
    const { messages } = await heard(t, [spoken])
    assert.deepEqual(messages, [JSON.stringify(spoken)])
  })
})
