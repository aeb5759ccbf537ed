import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect as connectHttp2, createServer, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { loadConfig } from '../../../sources/file.ts'
import { createTable } from '../../../state/shared-table.ts'
import { exchangeRaw, request } from '../../../testing/client.ts'
import type { TestGatewayOptions } from '../../../testing/gateway.ts'
import { lookupIn } from '../../../testing/lookup.ts'
import { McpCaller } from '../../../testing/mcp/mcp-caller.ts'
import { eventually, metric, useConfigFile, useProgram } from '../../../testing/process.ts'
import { useReplicas } from '../../../testing/workers/replicas.ts'
import { closedPort, httpConfig, until, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'
import { seeded } from '../../../testing/seeded.ts'

const [A, B, C] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const

type Answer = (address: string, response: ServerResponse, message: IncomingMessage) => void

const status = (code: number) => (response: ServerResponse) => response.writeHead(code).end()
const only =
  (sick: string, answer: (response: ServerResponse) => void): Answer =>
  (address, response) =>
    address === sick ? answer(response) : response.end('ok')

/** A gateway before replicas at these addresses, with a clock of its own. */
async function setUp(
  t: TestContext,
  options: {
    health: object
    answer: Answer
    addresses?: readonly string[]
    policies?: object
    backend?: object
    gateway?: TestGatewayOptions
  },
) {
  const addresses = options.addresses ?? [A, B]
  const replicas = await useReplicas(t, addresses, options.answer)
  const clock = { now: 1_000_000 }
  const entry = { host: `app.test:${replicas.port}`, policies: { health: options.health, ...options.backend } }
  const config = httpConfig([{ policies: options.policies ?? {}, backends: [entry] }])
  const lookup = lookupIn({ 'app.test': [...addresses] })
  const gateway = await useGateway(t, config, {
    lookup,
    random: seeded(1),
    monotonic: () => clock.now,
    ...options.gateway,
  })
  const ask = async (): Promise<number> => (await request(gateway.port())).status
  /** Asks until that address has been asked once more. */
  const reach = async (address: string): Promise<void> => {
    for (const before = replicas.count(address); replicas.count(address) === before;) await ask()
  }
  return { replicas, gateway, clock, config, lookup, ask, reach }
}

test('an address is evicted by its first bad answer, left out for 3 seconds, and returns', async (t) => {
  const { replicas, gateway, clock, ask, reach } = await setUp(t, {
    health: { eviction: {} },
    answer: only(A, status(500)),
  })
  await reach(A)
  assert.deepEqual(gateway.evictions, [
    { backend: `app.test:${replicas.port}`, endpoint: `${A}:${replicas.port}`, durationMs: 3000, times: 1 },
  ])
  clock.now += 2999
  for (let i = 0; i < 20; i++) assert.equal(await ask(), 200)
  assert.equal(replicas.count(A), 1)
  clock.now += 17
  await reach(A)
  assert.equal(gateway.evictions.length, 2)
  assert.equal(gateway.evictions[1]!.times, 2)
})

test('a second eviction in a row lasts twice as long, and a good answer starts anew', async (t) => {
  let isSick = true
  const { replicas, gateway, clock, ask, reach } = await setUp(t, {
    health: { eviction: { duration: '1600ms' } },
    answer: (address, response) => status(address === A && isSick ? 503 : 200)(response),
  })
  await reach(A)
  clock.now += 1600
  await reach(A)
  clock.now += 3199
  for (let i = 0; i < 20; i++) await ask()
  assert.equal(replicas.count(A), 2)
  clock.now += 1
  isSick = false
  await reach(A)
  isSick = true
  await reach(A)
  assert.deepEqual(
    gateway.evictions.map(({ durationMs, times }) => [durationMs, times]),
    [
      [1600, 1],
      [3200, 2],
      [1600, 1],
    ],
  )
})

test('when all addresses are evicted, they are used all the same', async (t) => {
  const { replicas, gateway, ask, reach } = await setUp(t, {
    health: { eviction: {} },
    answer: (_address, response) => status(500)(response),
  })
  await reach(A)
  await reach(B)
  assert.equal(gateway.evictions.length, 2)
  const before = replicas.seen.length
  for (let i = 0; i < 30; i++) assert.equal(await ask(), 500)
  assert.equal(replicas.seen.length, before + 30)
  assert.ok(replicas.count(A) > 1 && replicas.count(B) > 1)
  assert.equal(gateway.evictions.length, 2)
})

test('failures in a row are counted, and a good answer between them starts anew', async (t) => {
  const codes = [500, 200, 500, 500]
  const { gateway, ask } = await setUp(t, {
    health: { eviction: { consecutiveFailures: 2 } },
    addresses: [A],
    answer: (_address, response) => status(codes.shift()!)(response),
  })
  for (const evictions of [0, 0, 0, 1]) {
    await ask()
    await gateway.finished(4 - codes.length)
    assert.equal(gateway.evictions.length, evictions)
  }
})

test('the threshold is held against the score after the failure', async (t) => {
  const { gateway, ask } = await setUp(t, {
    health: { eviction: { healthThreshold: 50 } },
    addresses: [A],
    answer: (_address, response) => status(500)(response),
  })
  // 100, 70, 49.
  await ask()
  assert.equal(gateway.evictions.length, 0)
  await ask()
  assert.equal(gateway.evictions.length, 1)
})

test('without `eviction` nothing is evicted, and the healthy address is preferred', async (t) => {
  const { replicas, gateway, ask } = await setUp(t, { health: {}, answer: only(A, status(500)) })
  for (let i = 0; i < 60; i++) await ask()
  assert.equal(gateway.evictions.length, 0)
  // Only draws of A and A go there: a quarter.
  assert.ok(replicas.count(B) > replicas.count(A), `${replicas.count(A)} of 60 went to the sick address`)
  assert.ok(replicas.count(A) > 1)
})

test('a condition decides instead of the status', async (t) => {
  const health = { unhealthyCondition: 'response.code == 429', eviction: {} }
  const codes = [500, 404, 429]
  const { gateway, ask } = await setUp(t, {
    health,
    addresses: [A],
    answer: (_address, response) => status(codes.shift()!)(response),
  })
  await ask()
  await ask()
  assert.equal(gateway.evictions.length, 0)
  await ask()
  assert.equal(gateway.evictions.length, 1)
})

test('a condition sees the headers of the response, and the request', async (t) => {
  const unhealthyCondition = 'request.path == "/sick" && response.headers["x-state"] == "sick"'
  const { gateway } = await setUp(t, {
    health: { unhealthyCondition, eviction: {} },
    addresses: [A],
    answer: (_address, response) => response.writeHead(200, { 'x-state': 'sick' }).end(),
  })
  await request(gateway.port(), { path: '/well' })
  assert.equal(gateway.evictions.length, 0)
  const { status: code, headers } = await request(gateway.port(), { path: '/sick' })
  assert.deepEqual([code, headers['x-state']], [200, 'sick'])
  assert.equal(gateway.evictions.length, 1)
})

for (const sectionName of ['one', undefined]) {
  test(`${sectionName === undefined ? 'a backend' : 'one target'} of MCP has a condition of its own`, async (t) => {
    const replicas = await useReplicas(t, [A, B], (address, response) => {
      response.writeHead(address === A ? 429 : 200, { 'content-type': 'application/json' })
      response.end('{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}')
    })
    const targets = [{ name: 'one', static: { host: 'app.test', port: replicas.port } }]
    const config = {
      ...httpConfig([{ backends: [{ backend: 'tools' }] }]),
      backends: [{ name: 'tools', mcp: { targets } }],
      policies: [
        {
          name: 'p',
          targetRefs: [{ kind: 'Backend', name: 'tools', ...(sectionName && { sectionName }) }],
          backend: { health: { unhealthyCondition: 'response.code == 429', eviction: {} } },
        },
      ],
    }
    const lookup = lookupIn({ 'app.test': [A, B] })
    const gateway = await useGateway(t, config, { lookup, random: seeded(1), monotonic: () => 1_000_000 })
    const caller = new McpCaller(gateway.port())
    for (let asked = 0; asked < 100 && replicas.count(A) === 0; asked++) await caller.askModern('tools/list')
    assert.deepEqual(
      gateway.evictions.map(({ endpoint }) => endpoint),
      [`${A}:${replicas.port}`],
    )
  })
}

test('a condition that fails counts the answer as healthy', async (t) => {
  const { gateway, ask } = await setUp(t, {
    health: { unhealthyCondition: 'response.headers["x-missing"] == "1"', eviction: {} },
    addresses: [A],
    answer: (_address, response) => status(500)(response),
  })
  assert.equal(await ask(), 500)
  assert.equal(gateway.evictions.length, 0)
})

test('a condition on the body of the response is refused: it is judged before the body comes', () => {
  const entry = { host: 'a:1', policies: { health: { unhealthyCondition: 'response.body == b""' } } }
  const text = JSON.stringify(httpConfig([{ backends: [entry] }]))
  const loaded = loadConfig(text, { file: 'test.yaml', dir: '.', env: {} })
  assert.ok(!loaded.ok)
})

test('an address that cannot be connected is evicted, and the request goes to the next one', async (t) => {
  const dead = '127.0.0.9'
  const replicas = await useReplicas(t, [A], (_address, response) => response.end('ok'))
  const entry = { host: `app.test:${replicas.port}`, policies: { health: { eviction: {} } } }
  const lookup = lookupIn({ 'app.test': [dead, A] })
  const gateway = await useGateway(t, httpConfig([{ backends: [entry] }]), { lookup, monotonic: () => 1000 })
  for (let i = 0; i < 40; i++) assert.equal((await request(gateway.port())).status, 200)
  assert.deepEqual(
    gateway.evictions.map(({ endpoint }) => endpoint),
    [`${dead}:${replicas.port}`],
  )
})

test('connections that cannot be made count whatever the condition says', async (t) => {
  const port = await closedPort()
  const policies = { health: { unhealthyCondition: 'response.code == 429', eviction: {} } }
  const gateway = await useGateway(t, httpConfig([{ backends: [{ host: `127.0.0.1:${port}`, policies }] }]))
  assert.equal((await request(gateway.port())).status, 503)
  assert.equal(gateway.evictions.length, 1)
})

test('a response that breaks off is a failure', async (t) => {
  const { gateway } = await setUp(t, {
    health: { eviction: {} },
    addresses: [A],
    answer: (_address, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half', () => response.destroy())
    },
  })
  await exchangeRaw(gateway.port(), 'GET / HTTP/1.1\r\nhost: a\r\n\r\n', () => false)
  assert.equal(gateway.evictions.length, 1)
})

test('an answer that does not come in time is a failure', async (t) => {
  const { gateway, ask } = await setUp(t, {
    health: { eviction: {} },
    backend: { http: { requestTimeout: '50ms' } },
    addresses: [A],
    answer: () => {},
  })
  assert.equal(await ask(), 504)
  assert.equal(gateway.evictions.length, 1)
})

test('a client that leaves says nothing about the backend', async (t) => {
  const { replicas, gateway, ask } = await setUp(t, {
    health: { eviction: {} },
    addresses: [A],
    answer: (_address, response, message) => (message.url === '/hang' ? undefined : response.end()),
  })
  const client = connect(gateway.port(), '127.0.0.1')
  client.write('GET /hang HTTP/1.1\r\nhost: a\r\n\r\n')
  await until(() => replicas.seen.length === 1)
  client.destroy()
  await gateway.finished(1)
  assert.equal(await ask(), 200)
  assert.equal(gateway.evictions.length, 0)
})

test('large bodies and trailers pass a backend that is watched', async (t) => {
  const origin = createServer().on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '42' }))
    stream.end(Buffer.alloc(3_000_000, 'a'))
  })
  origin.listen(0, '127.0.0.1')
  await once(origin, 'listening')
  t.after(() => origin.close())
  const { port } = origin.address() as AddressInfo
  const policies = { health: { eviction: {} }, http: { version: 'HTTP2' } }
  const gateway = await useGateway(t, httpConfig([{ backends: [{ host: `127.0.0.1:${port}`, policies }] }]))
  const session = connectHttp2(`http://127.0.0.1:${gateway.port()}`)
  t.after(() => session.destroy())
  const stream = session.request({ ':path': '/', te: 'trailers' })
  const trailers = once(stream, 'trailers')
  let size = 0
  for await (const chunk of stream) size += (chunk as Buffer).length
  const [fields] = (await trailers) as [Record<string, string>]
  assert.deepEqual([size, fields['x-sum']], [3_000_000, '42'])
  assert.equal(gateway.evictions.length, 0)
})

test('a retry goes to another address', async (t) => {
  const { replicas, ask } = await setUp(t, {
    health: {},
    addresses: [A, B, C],
    policies: { retry: { attempts: 2, codes: [503] } },
    answer: (address, response) => (address === C ? response.end('ok') : status(503)(response)),
  })
  for (let i = 0; i < 20; i++) assert.equal(await ask(), 200)
  assert.equal(replicas.count(C), 20)
})

test('every attempt counts', async (t) => {
  const { replicas, gateway, ask } = await setUp(t, {
    health: { eviction: { consecutiveFailures: 3 } },
    addresses: [A],
    policies: { retry: { attempts: 2, codes: [503] } },
    answer: (_address, response) => status(503)(response),
  })
  assert.equal(await ask(), 503)
  assert.equal(replicas.seen.length, 3)
  assert.equal(gateway.evictions.length, 1)
})

test('workers share what they know of an address', async (t) => {
  const counters = createTable()
  const first = await setUp(t, { health: { eviction: {} }, answer: only(A, status(500)), gateway: { counters } })
  const options = { lookup: first.lookup, monotonic: () => first.clock.now, counters }
  const second = await useGateway(t, first.config, options)
  await first.reach(A)
  for (let i = 0; i < 20; i++) assert.equal((await request(second.port())).status, 200)
  assert.equal(first.replicas.count(A), 1)
  first.clock.now += 3016
  while (first.replicas.count(A) === 1) await request(second.port())
  assert.deepEqual([first.gateway.evictions.length, second.evictions[0]?.times], [1, 2])
})

test('scores outlive a reload', async (t) => {
  const { replicas, gateway, config, ask, reach } = await setUp(t, {
    health: { eviction: {} },
    answer: only(A, status(500)),
  })
  await reach(A)
  const routes = config.binds[0]!.listeners[0]!.routes.map((route) => ({
    ...route,
    policies: { timeouts: { request: '9s' } },
  }))
  await gateway.reload(JSON.stringify(httpConfig(routes)))
  for (let i = 0; i < 20; i++) assert.equal(await ask(), 200)
  assert.equal(replicas.count(A), 1)
})

test('on a TCP listener failed connections count', async (t) => {
  const echo = await useTcpServer(t, (socket) => socket.pipe(socket))
  const backend = { host: `app.test:${echo.port}`, policies: { health: { eviction: {} } } }
  const listener = { protocol: 'TCP', routes: [{ backends: [backend] }] }
  const lookup = lookupIn({ 'app.test': ['127.0.0.9', '127.0.0.1'] })
  const gateway = await useGateway(
    t,
    { binds: [{ port: 0, listeners: [listener] }] },
    { lookup, monotonic: () => 1000 },
  )
  for (let i = 0; i < 30; i++) {
    assert.equal(await exchangeRaw(gateway.port(), 'ping', (received) => received === 'ping'), 'ping')
  }
  assert.deepEqual(
    gateway.evictions.map(({ endpoint }) => endpoint),
    [`127.0.0.9:${echo.port}`],
  )
})

test('a dynamic forward proxy has scores of its own', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => response.writeHead(500).end())
  const dynamicForwardProxy = { ports: [], allowCidrs: ['127.0.0.0/8'] }
  const backends = [{ dynamicForwardProxy, policies: { health: { eviction: {} } } }]
  const gateway = await useGateway(t, httpConfig([{ backends }]), { monotonic: () => 1000 })
  for (let i = 0; i < 2; i++) {
    assert.equal((await request(gateway.port(), { headers: { host: origin.host } })).status, 500)
  }
  assert.deepEqual(
    gateway.evictions.map(({ endpoint }) => endpoint),
    [origin.host],
  )
})

test('two workers of the real program count together', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => response.writeHead(503).end())
  const health = { eviction: { consecutiveFailures: 100, duration: '24h' } }
  const backends = [{ name: 'app', static: { host: '127.0.0.1', port: origin.port }, policies: { health } }]
  const config = { config: { workers: 2 }, ...httpConfig([{ backends: [{ backend: 'app' }] }], { backends }) }
  const program = await useProgram(t, { args: ['-f', useConfigFile(t, config).file] })
  const ask = async (count: number): Promise<void> => {
    await Promise.all(Array.from({ length: count }, () => request(program.port())))
  }
  // Each request has a connection of its own, so that both workers get some.
  for (let i = 0; i < 3; i++) await ask(33)
  assert.doesNotMatch(program.stdout(), /endpoint evicted/)
  await ask(1)
  await program.logged(/info\tupstream\tendpoint evicted backend=app endpoint=127\.0\.0\.1:\d+ durationMs=\S+ times=1/)
  await ask(50)
  await eventually(
    'the eviction is counted',
    async () => (await metric(program, 'portico_upstream_evictions_total')) === 1,
  )
})
