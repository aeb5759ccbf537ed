import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { test } from 'node:test'
import { exchangeRaw, request } from '../../../../gateway/src/testing/client.ts'
import { lookupIn } from '../../../../gateway/src/testing/lookup.ts'
import { useReplicas } from '../../../../gateway/src/testing/workers/replicas.ts'
import { seeded } from '../../../../gateway/src/testing/seeded.ts'
import {
  closedPort,
  httpConfig,
  routeTo,
  until,
  useGateway,
  useOrigin,
  useTcpServer,
} from '../../../../gateway/src/testing/scene.ts'

test('a name whose first address is dead is reached at the next one', async (t) => {
  const origin = await useOrigin(t)
  const lookup = lookupIn({ 'two.test': ['127.0.0.9', '127.0.0.1'] })
  const gateway = await useGateway(t, httpConfig([routeTo({ host: `two.test:${origin.port}` })]), { lookup })
  for (let i = 0; i < 4; i++) {
    const { status } = await request(gateway.port(), { method: 'POST', body: 'hello' })
    assert.equal(status, 200)
  }
  assert.deepEqual(
    origin.seen.map((seen) => seen.body),
    ['hello', 'hello', 'hello', 'hello'],
  )
  assert.equal(gateway.records.at(-1)!.endpoint, `127.0.0.1:${origin.port}`)
})

test('all addresses of a name get requests, and one that fails gets fewer', async (t) => {
  const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4']
  const replicas = await useReplicas(t, addresses, (address, response) => {
    response.writeHead(address === '127.0.0.2' ? 500 : 200).end()
  })
  const lookup = lookupIn({ 'three.test': addresses })
  const gateway = await useGateway(t, httpConfig([routeTo({ host: `three.test:${replicas.port}` })]), {
    lookup,
    random: seeded(1),
    // The clock stands still, so that no address is slower than another.
    monotonic: () => 1000,
  })
  for (let i = 0; i < 90; i++) await request(gateway.port())
  const [bad = 0, ...good] = addresses.map((address) => replicas.count(address))
  // In a ninth of the draws, the bad address is drawn twice.
  assert.ok(bad > 0 && good.every((count) => count > bad), replicas.seen.join(' '))
})

test('an address with more calls in progress gets fewer new calls', async (t) => {
  const addresses = ['127.0.0.2', '127.0.0.3']
  const held: ServerResponse[] = []
  const replicas = await useReplicas(t, addresses, (address, response, message) => {
    if (message.url === '/hang' && address === '127.0.0.2') held.push(response)
    else response.end()
  })
  const lookup = lookupIn({ 'two.test': addresses })
  const time = { now: 1000 }
  const gateway = await useGateway(t, httpConfig([routeTo({ host: `two.test:${replicas.port}` })]), {
    lookup,
    random: seeded(1),
    // Every response takes the same time.
    monotonic: () => (time.now += 10),
  })
  for (let i = 0; i < 10; i++) await request(gateway.port())
  const waiting = Array.from({ length: 30 }, () => request(gateway.port(), { path: '/hang' }))
  await until(() => replicas.seen.length === 40)
  const before = replicas.count('127.0.0.2')
  for (let i = 0; i < 40; i++) await request(gateway.port())
  // In a quarter of the draws, the busy address is drawn twice; an idle address would get half.
  assert.ok(replicas.count('127.0.0.2') - before < 20, `${replicas.count('127.0.0.2') - before} of 40`)
  for (const response of held) response.end()
  await Promise.all(waiting)
})

test('a name with no working address gives 503', async (t) => {
  const port = await closedPort()
  // A DNS answer may contain an address twice.
  const lookup = lookupIn({ 'dead.test': ['127.0.0.1', '127.0.0.2', '127.0.0.1'] })
  const gateway = await useGateway(t, httpConfig([routeTo({ host: `dead.test:${port}` })]), { lookup })
  const { status, body } = await request(gateway.port())
  assert.equal(status, 503)
  assert.equal(body, 'upstream call failed: ECONNREFUSED')
})

test('a name that does not resolve gives 503', async (t) => {
  const gateway = await useGateway(t, httpConfig([routeTo({ host: 'unknown.test:80' })]), { lookup: lookupIn({}) })
  const { status, body } = await request(gateway.port())
  assert.equal(status, 503)
  assert.equal(body, 'backends required DNS resolution which failed')
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.reason, 'NoHealthyBackend')
  assert.equal(gateway.records[0]!.error, 'unknown.test: ENOTFOUND')
})

test('a tunnel too is tried at the next address', async (t) => {
  const echo = await useTcpServer(t, (socket) => socket.pipe(socket))
  const lookup = lookupIn({ 'two.test': ['127.0.0.9', '127.0.0.1'] })
  const listener = { protocol: 'TCP', routes: [{ backends: [{ host: `two.test:${echo.port}` }] }] }
  const gateway = await useGateway(t, { binds: [{ port: 0, listeners: [listener] }] }, { lookup })
  for (let i = 0; i < 2; i++) {
    assert.equal(await exchangeRaw(gateway.port(), 'ping', (received) => received === 'ping'), 'ping')
  }
})

test('a socket file is a destination', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'socket-'))
  const path = join(dir, 'app.sock')
  const server = createServer((message, response) => response.end(`host ${message.headers.host}`)).listen(path)
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
    rmSync(dir, { recursive: true })
  })
  const backends = [{ name: 'app', static: { unixPath: path } }]
  const routes = [
    { matches: [{ path: { pathPrefix: '/named' } }], backends: [{ backend: 'app' }] },
    { backends: [{ host: `unix:${path}` }] },
  ]
  const gateway = await useGateway(t, httpConfig(routes, { backends }))
  assert.equal((await request(gateway.port(), { path: '/named' })).body, 'host test.example')
  assert.equal((await request(gateway.port())).body, 'host test.example')
  await gateway.finished(2)
  assert.equal(gateway.records[0]!.endpoint, `unix:${path}`)
})
