import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { test, type TestContext } from 'node:test'
import { request, sendRaw } from '../../testing/client.ts'
import { lookupIn } from '../../testing/lookup.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { openTls } from '../../testing/tls-client.ts'
import { useTlsFiles } from '../../testing/tls-files.ts'

const LOOPBACK = { allowCidrs: ['127.0.0.0/8'], ports: [] }

async function setUp(t: TestContext, dynamicForwardProxy: object, policies: object = {}) {
  const origin = await useOrigin(t, (seen, response) => response.end(`host ${seen.headers.host}`))
  const lookup = lookupIn({
    'app.test': ['127.0.0.1'],
    'mixed.test': ['93.184.215.14', '127.0.0.1'],
    'inside.test': ['10.1.2.3'],
    'metadata.test': ['169.254.169.254'],
    'mapped.test': ['::ffff:127.0.0.1'],
  })
  const gateway = await useGateway(t, httpConfig([{ policies, backends: [{ dynamicForwardProxy }] }]), { lookup })
  let connections = 0
  origin.server.on('connection', () => connections++)
  const ask = (host: string) => request(gateway.port(), { headers: { host } })
  return { origin, gateway, ask, connections: () => connections }
}

test('each request goes to the host that it names', async (t) => {
  const { origin, ask } = await setUp(t, LOOPBACK)
  assert.equal((await ask(`app.test:${origin.port}`)).body, `host app.test:${origin.port}`)
  assert.equal((await ask(`APP.test.:${origin.port}`)).body, `host APP.test.:${origin.port}`)
  assert.equal((await ask(origin.host)).body, `host ${origin.host}`)
})

test('addresses of the own network are refused, and nothing is dialled', async (t) => {
  const { origin, ask, connections } = await setUp(t, { ports: [] })
  const names = [
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '10.0.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '0.0.0.0',
    'app.test',
    'mixed.test',
    'inside.test',
    'metadata.test',
    'mapped.test',
  ]
  for (const name of names) {
    const { status, body } = await ask(`${name}:${origin.port}`)
    assert.equal(status, 403, name)
    assert.match(body, /^destination refused: /)
  }
  assert.equal(connections(), 0)
})

test('an allowed range opens only itself', async (t) => {
  const { origin, ask } = await setUp(t, { allowCidrs: ['127.0.0.1/32'], ports: [] })
  assert.equal((await ask(`127.0.0.1:${origin.port}`)).status, 200)
  assert.equal((await ask(`127.0.0.2:${origin.port}`)).status, 403)
  assert.equal((await ask(`inside.test:${origin.port}`)).status, 403)
})

test('ports outside the list are refused; by default only those of the web are in it', async (t) => {
  const { origin, ask, connections } = await setUp(t, { allowCidrs: ['127.0.0.0/8'] })
  const { status, body } = await ask(origin.host)
  assert.equal(status, 403)
  assert.equal(body, `destination refused: port ${origin.port} is not allowed`)
  assert.equal(connections(), 0)
})

test('a refused destination is not tried again', async (t) => {
  const { ask, gateway } = await setUp(t, { ports: [] }, { retry: { attempts: 200 } })
  assert.equal((await ask('127.0.0.1')).status, 403)
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.retryAttempt, 0)
})

test('a name that does not resolve gives 503', async (t) => {
  const { ask } = await setUp(t, LOOPBACK)
  assert.equal((await ask('unknown.test')).status, 503)
})

test('a rewritten authority is the destination', async (t) => {
  const origin = await useOrigin(t)
  const route = {
    policies: { urlRewrite: { authority: { full: origin.host } } },
    backends: [{ dynamicForwardProxy: LOOPBACK }],
  }
  const gateway = await useGateway(t, httpConfig([route]))
  assert.equal((await request(gateway.port(), { headers: { host: 'anything.test' } })).status, 200)
  assert.equal(origin.seen[0]!.headers.host, origin.host)
})

test('CONNECT is judged in the same way', async (t) => {
  const { origin, gateway } = await setUp(
    t,
    { allowCidrs: ['127.0.0.1'], ports: [] },
    { upgrades: { protocols: ['connect'] } },
  )
  const connectTo = (name: string) =>
    sendRaw(
      gateway.port(),
      `CONNECT ${name} HTTP/1.1\r\nhost: ${name}\r\n\r\nGET / HTTP/1.1\r\nhost: in\r\nconnection: close\r\n\r\n`,
    )
  assert.match((await connectTo(origin.host)).text, /^HTTP\/1.1 200 [^]*host in/)
  const refused = await connectTo(`127.0.0.2:${origin.port}`)
  assert.equal(refused.status, 403)
})

test('on a TLS listener the server name is the destination, on the port of the listener', async (t) => {
  const { dir, authority } = useTlsFiles(t, ['app.test'])
  const listener = (dynamicForwardProxy: object) => ({
    binds: [{ port: 0, listeners: [{ protocol: 'TLS', routes: [{ backends: [{ dynamicForwardProxy }] }] }] }],
  })
  const lookup = lookupIn({ 'app.test': ['127.0.0.2'], 'other.test': ['127.0.0.3'] })
  const gateway = await useGateway(t, listener({ allowCidrs: ['127.0.0.2/32'], ports: [] }), { lookup })
  const read = (file: string) => readFileSync(join(dir, file), 'utf8')
  const server = createTlsServer({ cert: read('app.test.crt'), key: read('app.test.key') }, (socket) =>
    socket.end('inside'),
  )
  server.listen(gateway.port(), '127.0.0.2')
  await once(server, 'listening')
  t.after(() => void server.close())
  const socket = await openTls(gateway.port(), { ca: authority.cert, servername: 'app.test' })
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  assert.equal(text, 'inside')
  await assert.rejects(openTls(gateway.port(), { servername: 'other.test' }))
  await assert.rejects(openTls(gateway.port(), {}))
})
