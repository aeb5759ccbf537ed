import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { request as httpRequest } from 'node:http'
import type { Duplex } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { loadConfig } from '../sources/file.ts'
import { printProblems } from '../sources/print-problems.ts'
import { createAuthority } from '../testing/certificates.ts'
import { request } from '../testing/client.ts'
import type { TestGateway } from '../testing/gateway.ts'
import { until, useGateway, useOrigin } from '../testing/scene.ts'
import { createTestIdentity, createTestMesh, spiffeOf } from '../testing/services/hbone-peer.ts'
import '../testing/all-features.ts'

const mesh = createTestMesh()
const hboneBind = { port: 0, listeners: [{ name: 'mesh', protocol: 'HBONE' }] }

/** A gateway with an HTTP listener (port 0) and an HBONE listener (port 1). */
async function useMeshGateway(t: TestContext, route: object): Promise<{ gateway: TestGateway; renew: () => void }> {
  const { identity, renew } = createTestIdentity(mesh)
  const config = { binds: [{ port: 0, listeners: [{ name: 'web', routes: [route] }] }, hboneBind] }
  return { gateway: await useGateway(t, config, { mesh: identity }), renew }
}

function useSession(t: TestContext, gateway: TestGateway, pair: object = mesh.issue('client')): ClientHttp2Session {
  const session = connectHttp2(`https://127.0.0.1:${gateway.port(1)}`, {
    ...pair,
    ca: mesh.authority.cert,
    checkServerIdentity: () => undefined,
  })
  session.on('error', () => {})
  t.after(() => session.destroy())
  return session
}

async function openTunnel(session: ClientHttp2Session, authority: string): Promise<{ status: number; stream: Duplex }> {
  const stream = session.request({ ':method': 'CONNECT', ':authority': authority })
  stream.on('error', () => {})
  const [headers] = (await once(stream, 'response')) as [{ ':status'?: number }]
  return { status: headers[':status'] ?? 0, stream }
}

function get(stream: Duplex, path = '/', headers: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      path,
      headers: { host: 'web.test', ...headers },
      createConnection: () => stream,
    }
    const sent = httpRequest(options, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
      response.on('end', () => resolve(`${response.statusCode} ${body}`))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end()
  })
}

describe('an HBONE listener', () => {
  it('serves tunnels as connections of the port that they name, with the identity of the peer', async (t) => {
    const origin = await useOrigin(t)
    const rules = [{ name: 'shop', expression: 'source.identity.serviceAccount == "client"' }]
    const authorization = { action: 'Allow', policy: { matchExpressions: rules.map(({ expression }) => expression) } }
    const route = { backends: [{ host: origin.host }], policies: { authorization } }
    const { gateway, renew } = await useMeshGateway(t, route)
    const port = gateway.port(0)
    const session = useSession(t, gateway)
    for (const host of ['10.0.0.1', 'web.shop.svc.cluster.local', '[fd00::1]']) {
      const { status, stream } = await openTunnel(session, `${host}:${port}`)
      assert.equal(status, 200)
      assert.equal(await get(stream), '200 ok')
    }
    const other = await openTunnel(useSession(t, gateway, mesh.issue('other')), `10.0.0.1:${port}`)
    assert.match(await get(other.stream), /^403 /)
    assert.equal((await request(port)).status, 403)
    await gateway.finished(5)
    const identities = gateway.records.map(({ srcIdentity }) => srcIdentity)
    assert.deepEqual(identities, [...Array<string>(3).fill(spiffeOf('client')), spiffeOf('other'), null])
    renew()
    const renewed = await openTunnel(useSession(t, gateway), `10.0.0.1:${port}`)
    assert.equal(await get(renewed.stream), '200 ok')
    // A connection that began with the old certificate goes on.
    assert.equal((await openTunnel(session, `10.0.0.1:${port}`)).status, 200)
  })

  it('refuses what is no tunnel to one of its own HTTP ports, and ends only that stream', async (t) => {
    const origin = await useOrigin(t)
    const { gateway } = await useMeshGateway(t, { backends: [{ host: origin.host }] })
    const session = useSession(t, gateway)
    const own = `127.0.0.1:${gateway.port(0)}`
    const { stream } = await openTunnel(session, own)
    assert.equal((await openTunnel(session, origin.host)).status, 404)
    assert.equal((await openTunnel(session, `127.0.0.1:${gateway.port(1)}`)).status, 404)
    for (const port of [`0x${gateway.port(0).toString(16)}`, `0${gateway.port(0)}`, `${gateway.port(0)}.0`]) {
      assert.notEqual((await openTunnel(session, `127.0.0.1:${port}`)).status, 200, `another spelling: ${port}`)
    }
    const plain = session.request({ ':path': '/' })
    const [headers] = (await once(plain, 'response')) as [{ ':status'?: number }]
    assert.equal(headers[':status'], 405)
    const broken = await openTunnel(session, own)
    broken.stream.write('no HTTP at all\r\n\r\n')
    await once(broken.stream.resume(), 'close')
    assert.equal(await get(stream), '200 ok')
    assert.equal(origin.seen.length, 1)
    await until(() => gateway.records.length >= 4)
    const errors = gateway.records.map(({ error }) => error)
    for (const code of ['hbone_no_listener', 'hbone_not_connect']) assert.ok(errors.includes(code), errors.join())
  })

  it('admits only peers with a certificate of an accepted trust domain', async (t) => {
    const { gateway } = await useMeshGateway(t, { policies: { directResponse: { status: 200 } } })
    const strangers = createAuthority('Other CA')
    for (const pair of [
      {},
      mesh.issue('client', 'other.test'),
      mesh.authority.issue({ names: ['client.test'] }),
      strangers.issue({ names: ['spiffe://cluster.local/ns/test/sa/client'] }),
    ]) {
      const options = { port: gateway.port(1), host: '127.0.0.1', ca: mesh.authority.cert, ALPNProtocols: ['h2'] }
      const socket = connectTls({ ...options, ...pair, rejectUnauthorized: false }).on('error', () => {})
      await new Promise((resolve) => socket.resume().on('close', resolve))
    }
    await until(() => gateway.refusals.length === 4)
    assert.deepEqual(new Set(gateway.refusals), new Set(['client_certificate']))
  })

  it('is a peer of its own outbound tunnels', async (t) => {
    const origin = await useOrigin(t)
    const backend = { host: origin.host, policies: { http: { version: 'HTTP1' } } }
    const { gateway } = await useMeshGateway(t, { backends: [backend] })
    const { identity } = createTestIdentity(mesh)
    const hbone = { port: gateway.port(1), identity: 'spiffe://cluster.local/ns/test/sa/gateway-1' }
    const backends = ['HTTP1', 'HTTP2'].map((version) => ({
      matches: [{ path: { pathPrefix: `/${version}` } }],
      backends: [{ host: `127.0.0.1:${gateway.port(0)}`, policies: { tunnel: { hbone }, http: { version } } }],
    }))
    const config = { binds: [{ port: 0, listeners: [{ routes: backends }] }] }
    const outer = await useGateway(t, config, { mesh: identity })
    for (const path of ['/HTTP1', '/HTTP2']) {
      const body = path.repeat(20_000)
      const answers = await Promise.all([1, 2, 3].map(() => request(outer.port(), { method: 'POST', path, body })))
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200],
      )
    }
    assert.deepEqual(new Set(origin.seen.map(({ body }) => body.length)), new Set([120_000]))
  })

  it('is rejected with routes, policies or a hostname, and beside other listeners', () => {
    for (const [listeners, expected] of [
      [[{ protocol: 'HBONE', routes: [{ backends: [{ host: 'a:1' }] }] }], /found `routes` on an HBONE listener/],
      [[{ protocol: 'HBONE', hostname: 'a.test' }], /found `hostname` on an HBONE listener/],
      [
        [
          { name: 'a', protocol: 'HBONE' },
          { name: 'b', hostname: 'b.test' },
        ],
        /an HBONE listener alone on its port/,
      ],
    ] as const) {
      const text = JSON.stringify({ binds: [{ port: 15_008, listeners }] })
      const loaded = loadConfig(text, { file: 'test.yaml', dir: '.', env: {} })
      assert.ok(!loaded.ok)
      assert.match(printProblems(loaded.problems), expected)
    }
  })
})
