import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:tls'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { exchangeRaw } from '../../testing/client.ts'
import { closedPort, until, useGateway, useTcpServer } from '../../testing/scene.ts'
import { openTls } from '../../testing/tls-client.ts'
import { useTlsFiles } from '../../testing/tls-files.ts'

function bind(listener: object): object {
  return { binds: [{ port: 0, listeners: [listener] }] }
}

test('a TCP listener passes bytes both ways and logs the connection', async (t) => {
  const echo = await useTcpServer(t, (socket) => socket.pipe(socket))
  const gateway = await useGateway(
    t,
    bind({ protocol: 'TCP', name: 'db', routes: [{ backends: [{ host: echo.host }] }] }),
  )
  const client = connect({ port: gateway.port(), host: '127.0.0.1', allowHalfOpen: true })
  client.end('not HTTP\n')
  let text = ''
  for await (const chunk of client) text += String(chunk)
  assert.equal(text, 'not HTTP\n')
  await gateway.finished(1)
  const record = gateway.records[0]!
  assert.deepEqual(
    [record.protocol, record.listenerName, record.endpoint, record.requestBytes, record.responseBytes, record.reason],
    ['tcp', 'db', echo.host, 9, 9, 'Upstream'],
  )
})

test('a PROXY header is taken off and its address logged', async (t) => {
  const echo = await useTcpServer(t, (socket) => socket.pipe(socket))
  const listener = { protocol: 'TCP', routes: [{ backends: [{ host: echo.host }] }] }
  const gateway = await useGateway(t, { frontend: { proxyProtocol: { version: 'V1' } }, ...bind(listener) })
  const bytes = 'PROXY TCP4 203.0.113.7 203.0.113.9 4321 80\r\nhello'
  assert.equal(await exchangeRaw(gateway.port(), bytes, (received) => received.length >= 5), 'hello')
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.srcAddr, '203.0.113.7:4321')
})

test('a server that speaks first is heard', async (t) => {
  const greeting = await useTcpServer(t, (socket) => socket.end('220 hello'))
  const gateway = await useGateway(t, bind({ protocol: 'TCP', routes: [{ backends: [{ host: greeting.host }] }] }))
  assert.equal(await exchangeRaw(gateway.port(), '', () => false), '220 hello')
})

test('a connection whose backend is dead is closed', async (t) => {
  const port = await closedPort()
  const gateway = await useGateway(
    t,
    bind({ protocol: 'TCP', routes: [{ backends: [{ host: `127.0.0.1:${port}` }] }] }),
  )
  const client = connect(gateway.port(), '127.0.0.1')
  client.on('error', () => {})
  client.resume()
  await once(client, 'close')
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.reason, 'UpstreamFailure')
  await until(() => gateway.connectionCount() === 0)
})

async function useTlsOrigin(t: TestContext, dir: string, name: string) {
  const read = (file: string) => readFileSync(join(dir, file), 'utf8')
  const server = createServer({ cert: read(`${name}.crt`), key: read(`${name}.key`) }, (socket) => {
    socket.on('error', () => {})
    socket.end(`from ${name}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('a TLS listener passes connections on by server name, unread', async (t) => {
  const { dir, authority } = useTlsFiles(t, ['a.test', 'b.test'])
  const [a, b] = [await useTlsOrigin(t, dir, 'a.test'), await useTlsOrigin(t, dir, 'b.test')]
  const routes = [
    { hostnames: ['a.test'], backends: [{ host: a.host }] },
    { hostnames: ['*.test'], backends: [{ host: b.host }] },
  ]
  const gateway = await useGateway(t, bind({ protocol: 'TLS', routes }))
  for (const name of ['a.test', 'b.test']) {
    // The certificate is the backend's own: the gateway has none.
    const socket = await openTls(gateway.port(), { ca: authority.cert, servername: name })
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    assert.equal(text, `from ${name}`)
  }
  await gateway.finished(2)
  assert.deepEqual(
    gateway.records.map((record) => [record.protocol, record.sni]),
    [
      ['tls', 'a.test'],
      ['tls', 'b.test'],
    ],
  )
})

test('a server name without a route is closed', async (t) => {
  const { dir } = useTlsFiles(t, ['a.test'])
  const a = await useTlsOrigin(t, dir, 'a.test')
  const gateway = await useGateway(
    t,
    bind({ protocol: 'TLS', routes: [{ hostnames: ['a.test'], backends: [{ host: a.host }] }] }),
  )
  await assert.rejects(openTls(gateway.port(), { servername: 'c.test' }))
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.reason, 'NotFound')
})

test('HTTPS and TLS listeners live on one port', async (t) => {
  const { dir, authority } = useTlsFiles(t, ['a.test', 'b.test'])
  const a = await useTlsOrigin(t, dir, 'a.test')
  const gateway = await useGateway(
    t,
    {
      binds: [
        {
          port: 0,
          listeners: [
            { protocol: 'TLS', hostname: 'a.test', routes: [{ backends: [{ host: a.host }] }] },
            {
              protocol: 'HTTPS',
              hostname: 'b.test',
              tls: { cert: 'b.test.crt', key: 'b.test.key' },
              routes: [{ policies: { directResponse: { status: 200, body: 'http' } } }],
            },
          ],
        },
      ],
    },
    { dir },
  )
  const answer = async (name: string, say: string) => {
    const socket = await openTls(gateway.port(), { ca: authority.cert, servername: name })
    socket.write(say)
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    return text
  }
  assert.equal(await answer('a.test', ''), 'from a.test')
  assert.match(await answer('b.test', 'GET / HTTP/1.1\r\nhost: b.test\r\nconnection: close\r\n\r\n'), /http$/)
})
