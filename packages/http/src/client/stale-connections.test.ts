import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { createAuthority } from '../../../gateway/src/testing/certificates.ts'
import { request } from '../../../gateway/src/testing/client.ts'
import { useConnectProxy } from '../../../gateway/src/testing/services/connect-proxy.ts'
import { KeepAliveClient } from '../../../gateway/src/testing/keep-alive-client.ts'
import { httpConfig, until, useGateway } from '../../../gateway/src/testing/scene.ts'

/** Backends that close connections which the gateway still considers open. */

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

interface HastyBackend {
  port: number
  host: string
  connections: number
  /** Request lines with the number of the connection, in order. */
  seen: string[]
  stop(): void
}

/** Responds to the first request of a connection; `onSecond` handles a second request. */
async function useHastyBackend(
  t: TestContext,
  options: { tls?: { cert: string; key: string }; onSecond?: (socket: Socket, line: string) => void } = {},
): Promise<HastyBackend> {
  const onSecond = options.onSecond ?? ((socket) => socket.destroy())
  const open = new Set<Socket>()
  const serve = (socket: Socket): void => {
    const connection = ++backend.connections
    let count = 0
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      const line = /^([A-Z]+ \S+) HTTP/.exec(chunk.toString('latin1'))?.[1]
      if (line === undefined) return
      backend.seen.push(`${connection} ${line}`)
      if (++count === 1) socket.write(OK)
      else onSecond(socket, line)
    })
  }
  const server: Server = options.tls === undefined ? createServer(serve) : createTlsServer(options.tls, serve)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const backend: HastyBackend = {
    port,
    host: `127.0.0.1:${port}`,
    connections: 0,
    seen: [],
    stop() {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
  t.after(() => backend.stop())
  return backend
}

function routeTo(backend: { host: string }, policies: object = {}, traffic: object = {}): object {
  return { policies: traffic, backends: [{ host: backend.host, policies }] }
}

/** Sends requests from that many clients, each one after the other; returns the number of responses by status. */
async function askMany(port: number, clients: number, each: number, ask = get): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const one = async (client: KeepAliveClient, index: number): Promise<void> => {
    for (let i = 0; i < each; i++) {
      const { status } = await ask(client, `/${index}-${i}`)
      counts[status] = (counts[status] ?? 0) + 1
    }
    client.close()
  }
  await Promise.all(Array.from({ length: clients }, (_, index) => one(new KeepAliveClient(port), index)))
  return counts
}

const get = (client: KeepAliveClient, path: string) => client.get(path)

for (const clients of [2, 10]) {
  test(`${clients} clients never see that used connections were closed`, async (t) => {
    const backend = await useHastyBackend(t)
    const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
    assert.deepEqual(await askMany(gateway.port(), clients, 40), { 200: clients * 40 })
  })

  test(`${clients} clients never see that connections are closed a moment after each answer`, async (t) => {
    const backend = await useHastyBackend(t, {
      onSecond: (socket) => socket.write(OK, () => setTimeout(() => socket.destroy(), 5)),
    })
    const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
    assert.deepEqual(await askMany(gateway.port(), clients, 60), { 200: clients * 60 })
  })
}

test('clients never see closed connections over TLS and through a tunnel either', async (t) => {
  const authority = createAuthority()
  const secure = await useHastyBackend(t, { tls: authority.issue({ names: ['127.0.0.1'] }) })
  const plain = await useHastyBackend(t)
  const proxy = await useConnectProxy(t)
  const egress = { name: 'egress', static: { host: '127.0.0.1', port: proxy.port } }
  const gateway = await useGateway(
    t,
    httpConfig(
      [
        { matches: [{ path: { pathPrefix: '/tls' } }], ...routeTo(secure, { tls: { insecureSkipVerify: 'All' } }) },
        routeTo(plain, { tunnel: { backendRef: { name: 'egress' } } }),
      ],
      { backends: [egress] },
    ),
  )
  const asked = await askMany(gateway.port(), 4, 20, (client, path) => client.get(`/tls${path}`))
  assert.deepEqual(asked, { 200: 80 })
  assert.deepEqual(await askMany(gateway.port(), 4, 20), { 200: 80 })
})

test('a request that must not be sent twice is sent once, whoever waited for the connection', async (t) => {
  for (const clients of [2, 10]) {
    const backend = await useHastyBackend(t)
    const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
    const counts = await askMany(gateway.port(), clients, 20, (client, path) => client.post(path, 'body'))
    assert.equal((counts[200] ?? 0) + (counts[503] ?? 0), clients * 20)
    const paths = backend.seen.map((line) => line.slice(line.indexOf(' ')))
    assert.equal(new Set(paths).size, paths.length, 'none arrived twice')
  }
})

test('a backend that is gone for good is not dialled for ever', async (t) => {
  const backend = await useHastyBackend(t)
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const client = new KeepAliveClient(gateway.port())
  t.after(() => client.close())
  await client.get('/')
  const answer = client.get('/again')
  backend.stop()
  const { status } = await answer
  assert.equal(status, 503)
})

test('a used connection that was closed does not count against the health of an endpoint', async (t) => {
  const backend = await useHastyBackend(t)
  const health = { eviction: { duration: '1h', consecutiveFailures: 1 } }
  const gateway = await useGateway(t, httpConfig([routeTo(backend, { health })]))
  for (let i = 0; i < 3; i++) assert.equal((await request(gateway.port())).status, 200)
  const { status, body } = await request(gateway.port(), { method: 'POST', body: 'x' })
  assert.equal(status, 503)
  assert.equal(body, 'upstream call failed: reused connection closed before the response')
  assert.deepEqual(gateway.evictions, [])
})

test('a new connection that is closed does count', async (t) => {
  const backend = await useHastyBackend(t)
  const health = { eviction: { duration: '1h', consecutiveFailures: 1 } }
  const gateway = await useGateway(t, httpConfig([routeTo(backend, { health })]))
  backend.stop()
  assert.equal((await request(gateway.port())).status, 503)
  assert.equal(gateway.evictions.length, 1)
})

test('a policy retries what could not be sent again by itself, and counts that only', async (t) => {
  const backend = await useHastyBackend(t)
  const retry = { attempts: 1, backoff: '0ms' }
  const gateway = await useGateway(t, httpConfig([routeTo(backend, {}, { retry })]))
  await request(gateway.port())
  assert.equal((await request(gateway.port())).status, 200)
  assert.equal((await request(gateway.port(), { method: 'PUT', body: 'x' })).status, 200)
  await gateway.finished(3)
  assert.deepEqual(
    gateway.records.map((record) => record.retryAttempt),
    [0, 0, 1],
  )
})

test('the trace tells of the closed connection and of the one that took its place', async (t) => {
  const backend = await useHastyBackend(t)
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  await request(gateway.port())
  const events = gateway.trace()
  assert.equal((await request(gateway.port())).status, 200)
  const calls = (await events).filter(({ message }) => message.type.startsWith('backendCall'))
  assert.deepEqual(
    calls.map(({ message }) => [message.type, message['target'] ?? message['status'], message['error'] ?? null]),
    [
      ['backendCallStart', backend.host, null],
      ['backendCallResult', null, 'connection_lost: reused connection closed before the response'],
      ['backendCallStart', backend.host, null],
      ['backendCallResult', 200, null],
    ],
  )
})

test('a mirror gets its copy on another connection', async (t) => {
  const mirror = await useHastyBackend(t)
  const backend = await useHastyBackend(t, { onSecond: (socket) => socket.write(OK) })
  const requestMirror = { backend: mirror.host }
  const gateway = await useGateway(t, httpConfig([routeTo(backend, {}, { requestMirror })]))
  for (let i = 1; i <= 3; i++) {
    await request(gateway.port(), { path: `/${i}` })
    await until(() => mirror.seen.some((line) => line.endsWith(` GET /${i}`)))
  }
  await until(() => mirror.connections === 3)
})
