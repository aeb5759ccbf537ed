import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { exchangeRaw, sendRaw } from '../../../testing/client.ts'
import { closedPort, httpConfig, routeTo, until, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'
import { useTlsFiles } from '../../../testing/tls-files.ts'

function upgradeTo(protocol: string): string {
  return `GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\n\r\n`
}

async function useEchoOrigin(t: TestContext) {
  const origin = await useOrigin(t)
  const server = new WebSocketServer({ server: origin.server })
  server.on('connection', (socket) => socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })))
  return origin
}

test('a WebSocket works by default', async (t) => {
  const origin = await useEchoOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const client = new WebSocket(`ws://127.0.0.1:${gateway.port()}/chat`)
  await once(client, 'open')
  const large = Buffer.alloc(1_000_000, 7)
  for (const message of ['hello', large]) {
    client.send(message)
    const [data] = (await once(client, 'message')) as [Buffer]
    assert.ok(data.equals(Buffer.from(message)))
  }
  client.close(1000)
  const [code] = (await once(client, 'close')) as [number]
  assert.equal(code, 1000)
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.status, 101)
  assert.equal(gateway.records[0]!.target, '/chat')
})

test('the end of the backend reaches the client', async (t) => {
  const origin = await useOrigin(t)
  const server = new WebSocketServer({ server: origin.server })
  server.on('connection', (socket) => socket.terminate())
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const client = new WebSocket(`ws://127.0.0.1:${gateway.port()}/`)
  const [code] = (await once(client, 'close')) as [number]
  assert.equal(code, 1006)
  await until(() => gateway.connectionCount() === 0)
})

test('bytes sent right behind the upgrade are not lost', async (t) => {
  const origin = await useOrigin(t)
  origin.server.on('upgrade', (_message, socket, head: Buffer) => {
    let received = head.toString()
    const answer = () => received === 'early bytes' && socket.end('got them')
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nhi ')
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString()
      answer()
    })
    answer()
  })
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const text = await exchangeRaw(gateway.port(), `${upgradeTo('websocket')}early bytes`, () => false)
  assert.match(text, /\r\n\r\nhi got them$/)
})

test('a protocol that is not listed is refused before the backend hears of it', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  for (const protocol of ['tls/1.0', 'websocket, h2c', 'custom']) {
    const { status, body } = await sendRaw(gateway.port(), upgradeTo(protocol))
    assert.equal(status, 403, protocol)
    assert.equal(body, 'upgrade not allowed')
  }
  assert.equal(origin.seen.length, 0)
})

test('listed protocols are allowed, and then only they', async (t) => {
  const origin = await useOrigin(t)
  origin.server.on('upgrade', (_message, socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: custom\r\n\r\ncustom bytes'),
  )
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { upgrades: { protocols: ['Custom'] } })]))
  assert.match(await exchangeRaw(gateway.port(), upgradeTo('custom'), () => false), /^HTTP\/1.1 101 [^]*custom bytes$/)
  assert.equal((await sendRaw(gateway.port(), upgradeTo('websocket'))).status, 403)
})

test('a backend that does not want to upgrade answers as usual', async (t) => {
  const backend = await useTcpServer(t, (socket) =>
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nplain')),
  )
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const { status, body } = await sendRaw(gateway.port(), upgradeTo('websocket'))
  assert.equal(status, 200)
  assert.equal(body, 'plain')
})

test('a backend that changes the protocol unasked, or to another one, gives 502', async (t) => {
  const backend = await useTcpServer(t, (socket) =>
    socket.once('data', () => socket.write('HTTP/1.1 101 S\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n')),
  )
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  assert.equal((await sendRaw(gateway.port(), upgradeTo('websocket'))).status, 502)
  assert.equal((await sendRaw(gateway.port(), 'GET / HTTP/1.1\r\nhost: a\r\n\r\n')).status, 502)
})

test('an offer of h2c is dropped and the request served', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const { status, body } = await sendRaw(
    gateway.port(),
    'GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n\r\n',
  )
  assert.equal(status, 200)
  assert.equal(body, 'ok')
  const { headers } = origin.seen[0]!
  assert.deepEqual([headers.upgrade, headers['http2-settings']], [undefined, undefined])
})

test('CONNECT is refused by default', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const { status, body } = await sendRaw(gateway.port(), 'CONNECT a.test:443 HTTP/1.1\r\nhost: a.test:443\r\n\r\n')
  assert.equal(status, 405)
  assert.equal(body, 'method not allowed')
})

test('CONNECT makes a tunnel to the backend where the route allows it', async (t) => {
  const backend = await useTcpServer(t, (socket) =>
    socket.on('data', (chunk: Buffer) => socket.end(`echo ${chunk.toString()}`)),
  )
  const gateway = await useGateway(t, httpConfig([routeTo(backend, { upgrades: { protocols: ['connect'] } })]))
  const text = await exchangeRaw(
    gateway.port(),
    'CONNECT a.test:443 HTTP/1.1\r\nhost: a.test:443\r\n\r\nping',
    (received) => received.endsWith('echo ping'),
  )
  assert.match(text, /^HTTP\/1.1 200 [^\r]*\r\n\r\necho ping$/)
  await gateway.finished(1)
  assert.deepEqual([gateway.records[0]!.requestBytes, gateway.records[0]!.responseBytes], [4, 9])
})

test('an upgrade on a request with a body is ignored', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const { status } = await sendRaw(
    gateway.port(),
    'POST / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\ncontent-length: 2\r\n\r\nhi',
  )
  assert.equal(status, 200)
  assert.equal(origin.seen[0]!.headers.upgrade, undefined)
})

const TUNNEL = 'CONNECT a.test:443 HTTP/1.1\r\nhost: a.test:443\r\n\r\n'

test('a tunnel that cannot be made is tried again as a tunnel', async (t) => {
  const backend = { host: `127.0.0.1:${await closedPort()}` }
  const policies = { upgrades: { protocols: ['connect'] }, retry: { attempts: 2 } }
  const gateway = await useGateway(t, httpConfig([routeTo(backend, policies)]))
  assert.equal((await sendRaw(gateway.port(), TUNNEL)).status, 503)
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.retryAttempt, 2)
})

test('a tunnel that takes too long to make gives 504', async (t) => {
  const silent = await useTcpServer(t, (socket) => socket.pause())
  const policies = {
    upgrades: { protocols: ['connect'] },
    timeouts: { request: '80ms' },
    backend: { tls: { insecureSkipVerify: 'All' } },
  }
  const gateway = await useGateway(t, httpConfig([routeTo(silent, policies)]))
  assert.equal((await sendRaw(gateway.port(), TUNNEL)).status, 504)
})

test('a WebSocket works over TLS on both sides', async (t) => {
  const { dir, authority } = useTlsFiles(t, ['127.0.0.1'])
  const read = (file: string) => readFileSync(join(dir, file), 'utf8')
  const server = createServer({ cert: read('127.0.0.1.crt'), key: read('127.0.0.1.key') }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  new WebSocketServer({ server }).on('connection', (socket) => socket.on('message', (data) => socket.send(data)))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const backend = { host: `127.0.0.1:${port}`, policies: { tls: { insecureSkipVerify: 'All' } } }
  const listener = {
    protocol: 'HTTPS',
    tls: { cert: '127.0.0.1.crt', key: '127.0.0.1.key' },
    routes: [{ backends: [backend] }],
  }
  const gateway = await useGateway(t, { binds: [{ port: 0, listeners: [listener] }] }, { dir })
  const client = new WebSocket(`wss://127.0.0.1:${gateway.port()}/`, { ca: authority.cert })
  await once(client, 'open')
  client.send('hello')
  const [data] = (await once(client, 'message')) as [Buffer]
  assert.equal(data.toString(), 'hello')
  client.terminate()
  await gateway.finished(1)
})
