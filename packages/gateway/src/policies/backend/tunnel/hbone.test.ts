import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttp2Server, createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { formatMeshAddress } from '@portico/http/text'
import { ReceivedIdentity } from '../../../mesh/received-identity.ts'
import { exchangeRaw, request } from '../../../testing/client.ts'
import { TestGateway } from '../../../testing/gateway.ts'
import { lookupIn } from '../../../testing/lookup.ts'
import { closedPort, httpConfig, until, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'
import { createTestIdentity, createTestMesh, spiffeOf, useHbonePeer } from '../../../testing/services/hbone-peer.ts'
import { useTlsFiles } from '../../../testing/tls-files.ts'
import '../../../testing/all-features.ts'

const mesh = createTestMesh()

function configFor(host: string, hbone: object, policies: object = {}): object {
  return httpConfig([{ backends: [{ host, policies: { tunnel: { hbone }, ...policies } }] }])
}

describe('a backend that is called through HBONE', () => {
  it('gets HTTP/1, HTTP/2 and TLS inside, on one connection to the workload', async (t) => {
    const { identity } = createTestIdentity(mesh)
    const peer = await useHbonePeer(t, { mesh })
    const origin = await useOrigin(t)
    const { dir } = useTlsFiles(t, ['app.test'])
    const read = (file: string) => readFileSync(join(dir, file), 'utf8')
    const secure = createSecureServer({ cert: read('app.test.crt'), key: read('app.test.key') }, (message, response) =>
      response.end(`secure ${message.httpVersion}`),
    ).listen(0, '127.0.0.1')
    const plain = createHttp2Server((message, response) => void response.end(`h2c ${message.httpVersion}`))
    plain.listen(0, '127.0.0.1')
    await Promise.all([once(secure, 'listening'), once(plain, 'listening')])
    t.after(() => {
      secure.close()
      plain.close()
    })
    const portOf = (server: typeof plain | typeof secure) => (server.address() as AddressInfo).port
    const hbone = { port: peer.port, identity: spiffeOf('app') }
    const entry = (path: string, host: string, policies: object) => ({
      matches: [{ path: { pathPrefix: path } }],
      backends: [{ host, policies: { tunnel: { hbone }, ...policies } }],
    })
    const config = httpConfig([
      entry('/one', `app.test:${origin.port}`, {}),
      entry('/two', `127.0.0.1:${portOf(plain)}`, { http: { version: 'HTTP2' } }),
      entry('/tls', `app.test:${portOf(secure)}`, {
        tls: { caCertificateRefs: ['ca.crt'] },
        http: { version: 'HTTP2' },
      }),
    ])
    const lookup = lookupIn({ 'app.test': ['127.0.0.1'] })
    const gateway = await useGateway(t, config, { mesh: identity, dir, lookup })
    for (const [path, expected] of [
      ['/one', 'ok'],
      ['/two', 'h2c 2.0'],
      ['/tls', 'secure 2.0'],
    ] as const) {
      for (let i = 0; i < 2; i++) assert.equal((await request(gateway.port(), { path })).body, expected)
    }
    const targets = [origin.port, portOf(plain), portOf(secure)].map((port) => `127.0.0.1:${port}`)
    assert.deepEqual(peer.authorities, targets)
    assert.deepEqual(peer.clients, [spiffeOf('gateway-1')])
    assert.equal(gateway.records[0]?.endpoint, targets[0])
  })

  it('fails with the reason in the response, the log and the explanation', async (t) => {
    const { identity } = createTestIdentity(mesh)
    const peer = await useHbonePeer(t, {
      mesh,
      answer(stream) {
        stream.respond({ ':status': 503 }, { endStream: true })
        return true
      },
    })
    const origin = await useOrigin(t)
    const closed = await closedPort()
    const none = new ReceivedIdentity({ trustDomain: 'cluster.local', additionalTrustDomains: [] }, Date.now)
    // The cause names a file, which clients must not learn.
    none.take({ certificate: null, failure: '/var/run/secrets/tokens/istio-token cannot be read (ENOENT)' })
    for (const [hbone, member, expected] of [
      [{ port: peer.port }, identity, `127.0.0.1:${peer.port}: the peer answered 503`],
      [{ port: closed }, identity, `127.0.0.1:${closed}: ECONNREFUSED`],
      [
        { port: peer.port, identity: spiffeOf('admin') },
        identity,
        `127.0.0.1:${peer.port}: the peer is ${spiffeOf('app')}, not ${spiffeOf('admin')}`,
      ],
      [{ port: peer.port }, none, 'no mesh certificate yet'],
    ] as const) {
      const gateway = await useGateway(t, configFor(origin.host, hbone), { mesh: member })
      const { status, body } = await request(gateway.port())
      assert.deepEqual([status, body], [503, `upstream call failed: tunnel through HBONE: ${expected}`])
      await gateway.finished(1)
      assert.equal(gateway.records[0]?.error, `tunnel through HBONE: ${expected}`)
      assert.ok(gateway.lines.join().includes(expected), gateway.lines.join())
    }
    assert.equal(origin.seen.length, 0)
  })

  it('cuts the response when the workload dies, whatever the length of the body', async (t) => {
    const { identity } = createTestIdentity(mesh)
    for (const rest of ['connection: close\r\n\r\npartial', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n']) {
      const peer = await useHbonePeer(t, { mesh })
      const app = await useTcpServer(t, (socket) => {
        socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n${rest}`))
      })
      const config = configFor(`127.0.0.1:${app.port}`, { port: peer.port })
      const gateway = await useGateway(t, config, { mesh: identity })
      const text = await exchangeRaw(gateway.port(), 'GET / HTTP/1.1\r\nhost: a\r\n\r\n', (received) => {
        if (received.includes('\r\n\r\n')) peer.kill()
        return false
      }).catch((error: Error) => `cut: ${error.message}`)
      await gateway.finished(1)
      const [record] = gateway.records
      assert.notEqual(record?.error ?? null, null, text)
      assert.ok(!text.endsWith('0\r\n\r\n'), text)
    }
  })

  it('uses a renewed certificate without a failed request', async (t) => {
    const { identity, renew } = createTestIdentity(mesh)
    const [peer, origin] = [await useHbonePeer(t, { mesh }), await useOrigin(t)]
    const gateway = await useGateway(t, configFor(origin.host, { port: peer.port }), { mesh: identity })
    const statuses = new Set<number>()
    const load = { isOver: false }
    const clients = Array.from({ length: 4 }, async () => {
      while (!load.isOver) statuses.add((await request(gateway.port())).status)
    })
    for (let renewal = 2; renewal <= 6; renewal++) {
      renew()
      await until(() => peer.clients.includes(spiffeOf(`gateway-${renewal}`)))
    }
    load.isOver = true
    await Promise.all(clients)
    assert.deepEqual([...statuses], [200])
    await until(() => peer.sessions.size === 1)
  })

  it('is one endpoint of a Service beside others that are called plainly', async (t) => {
    const { identity } = createTestIdentity(mesh)
    const [peer, origin] = [await useHbonePeer(t, { mesh }), await useOrigin(t)]
    const gateway = await useService(t, identity, peer.port)
    const send = async () => (await request(gateway.port())).status
    gateway.setEndpoints({ put: [[SERVICE, [formatMeshAddress(origin.host, spiffeOf('app'))]]], drop: [] })
    assert.deepEqual([await send(), await send(), peer.authorities.length], [200, 200, 1])
    gateway.setEndpoints({ put: [[SERVICE, [formatMeshAddress(origin.host, spiffeOf('admin'))]]], drop: [] })
    assert.equal(await send(), 503)
    // The Pod has left the mesh.
    gateway.setEndpoints({ put: [[SERVICE, [origin.host]]], drop: [] })
    peer.kill()
    assert.equal(await send(), 200)
    const other = await useOrigin(t)
    gateway.setEndpoints({ put: [[SERVICE, [formatMeshAddress(origin.host, null), other.host]]], drop: [] })
    const before = peer.authorities.length
    while (other.seen.length === 0 || peer.authorities.length === before) await send()
    assert.deepEqual(new Set(gateway.records.map(({ endpoint }) => endpoint)), new Set([origin.host, other.host]))
  })
})

const SERVICE = 'backend/service/shop/web/80'

async function useService(t: TestContext, mesh: ReceivedIdentity, hbonePort: number): Promise<TestGateway> {
  const gateway = new TestGateway({ mesh, hbonePort })
  t.after(() => gateway.close())
  const listener = 'bind/0/web'
  const key = `${listener}/all`
  await gateway.use({
    binds: [{ key: 'bind/0', port: 0, address: '' }],
    listeners: [{ key: listener, bind: 'bind/0', name: 'web', hostname: '', protocol: 'HTTP', tls: null }],
    routes: [
      {
        key,
        listener,
        name: 'all',
        rule: '',
        labels: {},
        hostnames: [],
        matches: [{ path: { kind: 'pathPrefix', value: '/' }, method: null, headers: [], query: [] }],
        backends: [{ key: `${key}/backend/0`, backend: SERVICE, weight: 1 }],
      },
    ],
    backends: [
      { key: SERVICE, name: 'shop/web', target: { kind: 'service', host: 'web.shop.svc', port: 80, version: null } },
    ],
    policies: [],
  })
  return gateway
}
