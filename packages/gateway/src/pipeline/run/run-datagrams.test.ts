import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeTime } from '../../testing/fake-time.ts'
import { startGateway } from '../../testing/gateway.ts'
import { until, useGateway } from '../../testing/scene.ts'
import { closedUdpPort, UdpClient, useUdpServer } from '../../testing/udp.ts'

const bind = (backends: object[], listener: object = {}) => ({
  port: 0,
  listeners: [{ protocol: 'UDP', name: 'dns', ...listener, routes: [{ name: 'zone', backends }] }],
})
const config = (backends: object[], more: object = {}) => ({ ...more, binds: [bind(backends)] })

/** The value of a series; 0 when there is none. */
function counted(text: string, name: string, reason?: string): number {
  const labels = reason === undefined ? '[^}]*' : `[^}]*reason="${reason}"[^}]*`
  return Number(new RegExp(`^portico_${name}\\{${labels}\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
}

const drops = (gateway: { metrics(): string }, reason: string): number =>
  counted(gateway.metrics(), 'downstream_datagrams_dropped_total', reason)

test('a source has one session, with one socket to its backend, and replies reach only that source', async (t) => {
  const echo = await useUdpServer(t)
  const gateway = await useGateway(t, config([{ host: echo.host }]))
  const [one, other] = [await UdpClient.open(t, gateway.port()), await UdpClient.open(t, gateway.port())]
  for (const text of ['a', 'b', '']) assert.equal(await one.ask(text), text)
  assert.equal(await other.ask('c'), 'c')
  assert.equal(echo.sources.size, 2)
  assert.equal(gateway.connectionCount(), 2)
  assert.deepEqual([one.pending, other.pending], [0, 0])
  const text = gateway.metrics()
  assert.match(text, /^portico_downstream_connections_active\{[^}]*listener="dns",protocol="udp"\} 2$/m)
  assert.equal(counted(text, 'downstream_datagrams_received_total'), 4)
  assert.equal(counted(text, 'downstream_datagrams_sent_total'), 4)
  assert.equal(counted(text, 'downstream_received_bytes_total'), 3)
})

test('an idle session ends with a line of the log and a record, and the next datagram opens another', async (t) => {
  const echo = await useUdpServer(t)
  const time = new FakeTime()
  const gateway = await startGateway(JSON.stringify(config([{ host: echo.host }])), { deadlines: time.deadlines })
  t.after(() => gateway.close())
  const client = await UdpClient.open(t, gateway.port())
  assert.equal(await client.ask('hello'), 'hello')
  await time.advance(59_000)
  assert.equal(await client.ask('again'), 'again')
  await time.advance(59_000)
  assert.equal(gateway.records.length, 0)
  await time.advance(2_000)
  await gateway.finished(1)
  assert.match(
    gateway.lines[0] ?? '',
    new RegExp(
      `listener=dns route=zone endpoint=${echo.host} src.addr=${client.source} protocol=udp request.bytes=10 response.bytes=10 duration`,
    ),
  )
  const [record] = gateway.recorded()
  assert.deepEqual([record?.protocol, record?.outcome, record?.bytesIn, record?.bytesOut], ['udp', 'passed', 10, 10])
  assert.equal(await client.ask('third'), 'third')
  assert.equal(echo.sources.size, 2)
})

test('a refused datagram ends its session, and the next one goes to another backend', async (t) => {
  const echo = await useUdpServer(t)
  const dead = `127.0.0.1:${await closedUdpPort()}`
  // The first pick is the dead backend, as long as nothing speaks against it.
  const gateway = await startGateway(JSON.stringify(config([{ host: dead }, { host: echo.host }])), {
    random: sequence([0, 0, 0.9, 0, 0.9]),
  })
  t.after(() => gateway.close())
  const client = await UdpClient.open(t, gateway.port())
  client.send('lost')
  await gateway.finished(1)
  const [failed] = gateway.recorded()
  assert.deepEqual([failed?.outcome, failed?.reason?.kind, failed?.endpoint], ['failed', 'UpstreamFailure', dead])
  assert.match(gateway.lines[0] ?? '', /error="endpoint refused the datagram" reason=UpstreamFailure/)
  assert.equal(await client.ask('found'), 'found')
  // Other clients need not lose a datagram to learn the same.
  assert.equal(await (await UdpClient.open(t, gateway.port())).ask('found too'), 'found too')
})

test('after a refusal, another address of the same backend is preferred', async (t) => {
  const port = await closedUdpPort()
  const echo = await useUdpServer(t, undefined, { address: '127.0.0.2', port })
  const lookup = (_host: string, _family: number, done: (error: null, addresses: object[]) => void): void =>
    done(
      null,
      ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 })),
    )
  const gateway = await startGateway(JSON.stringify(config([{ host: `two.test:${echo.port}` }])), {
    lookup: lookup as never,
  })
  t.after(() => gateway.close())
  const client = await UdpClient.open(t, gateway.port())
  const replies: string[] = []
  void client.next().then((reply) => replies.push(reply.toString()))
  // At most one datagram is lost: the address without a server is not chosen twice.
  client.send('first')
  await until(() => replies.length > 0 || gateway.records.length > 0)
  if (replies.length === 0) client.send('second')
  await until(() => replies.length > 0)
  assert.ok(gateway.records.length <= 1)
})

test('a full port drops new sources, counts and records them, and serves the sessions that it has', async (t) => {
  const echo = await useUdpServer(t)
  const gateway = await useGateway(t, config([{ host: echo.host }], { frontend: { udp: { maxSessions: 2 } } }))
  const clients = await Promise.all([1, 2, 3].map(() => UdpClient.open(t, gateway.port())))
  const [first, second, third] = clients as [UdpClient, UdpClient, UdpClient]
  assert.deepEqual([await first.ask('a'), await second.ask('b')], ['a', 'b'])
  third.send('c')
  await until(() => drops(gateway, 'max_sessions') === 1)
  assert.equal(await first.ask('d'), 'd')
  assert.deepEqual(gateway.refusals, ['max_sessions'])
  const [record] = gateway.recorded()
  assert.deepEqual([record?.protocol, record?.reason?.code, record?.source], ['udp', 'max_sessions', third.source])
})

test('one address has no more sessions than it may, and others are served', async (t) => {
  const echo = await useUdpServer(t)
  const frontend = { udp: { maxSessionsPerAddress: 1 } }
  const gateway = await useGateway(t, config([{ host: echo.host }], { frontend }))
  const first = await UdpClient.open(t, gateway.port())
  assert.equal(await first.ask('a'), 'a')
  const second = await UdpClient.open(t, gateway.port())
  second.send('b')
  await until(() => drops(gateway, 'max_sessions_per_address') === 1)
  const elsewhere = await UdpClient.open(t, gateway.port(), '127.0.0.2')
  assert.equal(await elsewhere.ask('c'), 'c')
})

test('network rules hold for datagrams, and end the sessions that they deny after a reload', async (t) => {
  const echo = await useUdpServer(t)
  const rules = (address: string) => ({
    frontend: { networkAuthorization: { rules: [{ deny: `source.address == "${address}"` }] } },
  })
  const gateway = await useGateway(t, config([{ host: echo.host }], rules('127.0.0.2')))
  const [inside, outside] = [
    await UdpClient.open(t, gateway.port()),
    await UdpClient.open(t, gateway.port(), '127.0.0.2'),
  ]
  outside.send('denied')
  assert.equal(await inside.ask('a'), 'a')
  await until(() => drops(gateway, 'network_authorization') === 1)
  assert.deepEqual(echo.received, ['a'])
  const [record] = gateway.recorded()
  assert.deepEqual([record?.protocol, record?.reason?.policy], ['udp', 'networkAuthorization'])
  await gateway.reload(JSON.stringify(config([{ host: echo.host }], rules('127.0.0.1'))))
  await gateway.finished(1)
  assert.match(gateway.lines[0] ?? '', /reason=NetworkAuthorization/)
  inside.send('b')
  await until(() => drops(gateway, 'network_authorization') === 2)
  assert.equal(await outside.ask('c'), 'c')
})

test('a reload keeps the sessions whose backend stays, and ends those whose backend is gone', async (t) => {
  const [one, two] = [await useUdpServer(t), await useUdpServer(t, (_datagram, reply) => reply('two'))]
  const gateway = await useGateway(t, config([{ host: one.host }]))
  const client = await UdpClient.open(t, gateway.port())
  assert.equal(await client.ask('a'), 'a')
  await gateway.reload(JSON.stringify(config([{ host: one.host }, { host: two.host, weight: 0 }])))
  assert.equal(await client.ask('b'), 'b')
  assert.equal(one.sources.size, 1)
  assert.equal(gateway.records.length, 0)
  await gateway.reload(JSON.stringify(config([{ host: one.host, weight: 0 }, { host: two.host }])))
  await gateway.finished(1)
  assert.equal(await client.ask('c'), 'two')
})

test('a session ends at the next datagram when its Service lost the endpoint', async (t) => {
  const [one, two] = [await useUdpServer(t), await useUdpServer(t)]
  const gateway = await useGateway(t, config([{ host: one.host }]))
  const [listener] = ['bind/udp/0/dns']
  const route = { key: `${listener}/zone`, listener, name: 'zone', rule: '', labels: {}, hostnames: [], matches: [] }
  const target = { kind: 'service' as const, host: 'dns.svc', port: 53, version: null }
  await gateway.use({
    binds: [{ key: 'bind/udp/0', port: 0, address: '127.0.0.1', transport: 'udp' }],
    listeners: [{ key: listener, bind: 'bind/udp/0', name: 'dns', hostname: '', protocol: 'UDP', tls: null }],
    routes: [{ ...route, backends: [{ key: `${route.key}/backend/0`, backend: 'service', weight: 1 }] }],
    backends: [{ key: 'service', name: 'dns', target }],
    policies: [],
  })
  gateway.setEndpoints({ put: [['service', [one.host]]], drop: [] })
  const client = await UdpClient.open(t, gateway.port())
  assert.equal(await client.ask('a'), 'a')
  gateway.setEndpoints({ put: [['service', [two.host, one.host]]], drop: [] })
  assert.equal(await client.ask('b'), 'b')
  assert.equal(one.sources.size, 1)
  gateway.setEndpoints({ put: [['service', [two.host]]], drop: [] })
  assert.equal(await client.ask('c'), 'c')
  assert.deepEqual(two.received, ['c'])
  gateway.setEndpoints({ put: [['service', []]], drop: [] })
  client.send('d')
  await until(() => drops(gateway, 'no_backend') === 1)
  assert.match(gateway.lines.at(-1) ?? '', /error="dns.svc has no ready endpoint"/)
})

test('a source whose route has no backend opens one session in a second, whatever it sends', async (t) => {
  const gateway = await useGateway(t, config([{ host: 'nowhere.test:53', weight: 0 }]))
  const client = await UdpClient.open(t, gateway.port())
  for (let i = 0; i < 20; i++) client.send('x')
  await until(() => drops(gateway, 'no_backend') === 20)
  assert.equal(gateway.records.length, 1)
  assert.match(gateway.lines[0] ?? '', /error="no valid backends" reason=NoHealthyBackend/)
})

test('the largest datagram passes', async (t) => {
  const echo = await useUdpServer(t)
  const gateway = await useGateway(t, config([{ host: echo.host }]))
  const client = await UdpClient.open(t, gateway.port())
  const largest = Buffer.alloc(65_507, 'x')
  assert.equal((await client.ask(largest)).length, 65_507)
})

test('a route that leads back to its own port opens no session', async (t) => {
  const port = await closedUdpPort()
  const gateway = await useGateway(t, { binds: [{ ...bind([{ host: `127.0.0.1:${port}` }]), port }] })
  const client = await UdpClient.open(t, gateway.port())
  client.send('x')
  await gateway.finished(1)
  assert.match(gateway.lines[0] ?? '', /reason=LoopDetected/)
  assert.deepEqual(gateway.bugs, [])
})

test('TCP and UDP share a port number, in one bind', async (t) => {
  const echo = await useUdpServer(t)
  const listeners = [
    { protocol: 'UDP', name: 'datagrams', routes: [{ backends: [{ host: echo.host }] }] },
    { name: 'requests', routes: [{ policies: { directResponse: { status: 200, body: 'ok' } } }] },
  ]
  const gateway = await useGateway(t, { binds: [{ port: 0, listeners }] })
  assert.equal(await (await fetch(`http://127.0.0.1:${gateway.port(0)}/`)).text(), 'ok')
  assert.equal(await (await UdpClient.open(t, gateway.port(1))).ask('x'), 'x')
})

test('a PROXY header cannot be read from datagrams, so the config is refused', async (t) => {
  const frontend = { proxyProtocol: { version: 'V1', mode: 'Strict' } }
  await assert.rejects(useGateway(t, config([{ host: '127.0.0.1:1' }], { frontend })), /proxyProtocol/)
})

function sequence(numbers: number[]): () => number {
  return () => numbers.shift() ?? 0.5
}
