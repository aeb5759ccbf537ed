import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { test } from 'node:test'
import { exchangeRaw, request } from '../testing/client.ts'
import { lookupIn } from '../testing/lookup.ts'
import { closedPort, httpConfig, routeTo, useGateway, useOrigin, useTcpServer } from '../testing/scene.ts'

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

test('the addresses of a name take turns', async (t) => {
  const port = await closedPort()
  const seen: string[] = []
  for (const address of ['127.0.0.2', '127.0.0.3']) {
    const server = createServer((_message, response) => {
      seen.push(address)
      response.end()
    })
    server.listen(port, address)
    await once(server, 'listening')
    t.after(() => {
      server.close()
      server.closeAllConnections()
    })
  }
  const lookup = lookupIn({ 'two.test': ['127.0.0.2', '127.0.0.3'] })
  const gateway = await useGateway(t, httpConfig([routeTo({ host: `two.test:${port}` })]), { lookup })
  for (let i = 0; i < 6; i++) await request(gateway.port())
  assert.equal(seen.filter((address) => address === '127.0.0.2').length, 3)
})

test('a name with no working address gives 503', async (t) => {
  const port = await closedPort()
  const lookup = lookupIn({ 'dead.test': ['127.0.0.1', '127.0.0.2'] })
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
