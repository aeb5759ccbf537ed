import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { createTestMesh, spiffeOf, useHbonePeer } from '../../../../gateway/src/testing/services/hbone-peer.ts'
import { until } from '../../../../gateway/src/testing/scene.ts'
import type { RawStream } from '../../exchange/exchange.ts'
import { Hops } from '../../fields/hops.ts'
import { Deadlines } from '../../runtime/deadlines.ts'
import { Pools } from '../pool/pools.ts'
import { UpstreamError } from '../upstream-types.ts'
import { Hbone } from './hbone.ts'
import type { MeshCredentials } from './hbone-pools.ts'

const mesh = createTestMesh()
const foreign = createTestMesh()

function credentialsOf(version: number, from = mesh): MeshCredentials {
  return { version, ...from.issue(`gateway-${version}`), roots: mesh.authority.cert }
}

function useHbone(t: TestContext, first: MeshCredentials | null = credentialsOf(1)) {
  const pools = new Pools(new Deadlines(), new Hops('test'))
  t.after(() => pools.close())
  const state = { credentials: first }
  const hbone = new Hbone({
    member: {
      credentials: () => state.credentials,
      problem: () => (state.credentials === null ? 'no mesh certificate yet' : null),
      peerProblem: (uris, expected) => {
        const [uri = ''] = uris
        if (!uri.startsWith('spiffe://cluster.local/')) return `trust domain of ${uri} is not accepted`
        return expected === null || uri === expected ? null : `${uri} is not ${expected}`
      },
    },
    pools,
    connectTimeoutMs: 5_000,
    idleTimeoutMs: 60_000,
  })
  return { hbone, state, pools }
}

function open(hbone: Hbone, port: number, target: string, identity: string | null = null): Promise<RawStream | string> {
  return new Promise((resolve) => {
    hbone.tunnel({ identity, port }).open(target, undefined, (outcome) => {
      resolve(outcome instanceof UpstreamError ? `${outcome.code}: ${outcome.message}` : outcome)
    })
  })
}

/** Sends a request through an open tunnel and returns the whole answer, or the error that cut it off. */
function ask(stream: RawStream | string, path = '/'): Promise<string> {
  if (typeof stream === 'string') return Promise.resolve(stream)
  stream.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`)
  let text = ''
  stream.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
  return new Promise((resolve) => {
    stream.on('end', () => {
      stream.destroy()
      resolve(text)
    })
    stream.on('error', (error) => resolve(`cut: ${error.message}`))
  })
}

async function useApp(t: TestContext): Promise<{ port: number; target: string }> {
  const server = createServer((message, response) => {
    if (message.url === '/partial') response.write('partial')
    else response.end(`hello ${message.url}`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, target: `127.0.0.1:${port}` }
}

describe('HBONE to a workload of the mesh', () => {
  it('carries many streams on one connection, each with the address of the workload', async (t) => {
    const [app, peer] = [await useApp(t), await useHbonePeer(t, { mesh })]
    const { hbone } = useHbone(t)
    const streams = await Promise.all(Array.from({ length: 5 }, () => open(hbone, peer.port, app.target)))
    const answers = await Promise.all(streams.map((stream, index) => ask(stream, `/${index}`)))
    answers.forEach((answer, index) => assert.ok(answer.endsWith(`hello /${index}`), answer))
    assert.deepEqual(peer.authorities, Array(5).fill(app.target))
    assert.deepEqual(peer.clients, [spiffeOf('gateway-1')])
  })

  it('opens another connection when the peer allows no more streams', async (t) => {
    const [app, peer] = [await useApp(t), await useHbonePeer(t, { mesh, maxStreams: 3 })]
    const { hbone } = useHbone(t)
    const streams: (RawStream | string)[] = []
    for (let i = 0; i < 5; i++) streams.push(await open(hbone, peer.port, app.target))
    const answers = await Promise.all(streams.map((stream) => ask(stream)))
    for (const answer of answers) assert.match(answer, /hello/)
    assert.equal(peer.clients.length, 3)
  })

  it('fails closed for a peer that the mesh does not vouch for', async (t) => {
    const app = await useApp(t)
    const trusted = await useHbonePeer(t, { mesh })
    const other = await useHbonePeer(t, { mesh, identity: spiffeOf('app', 'other.test') })
    const stranger = await useHbonePeer(t, { mesh: foreign })
    const { hbone } = useHbone(t)
    for (const [peer, identity, expected] of [
      [trusted, spiffeOf('app'), /hello/],
      [trusted, spiffeOf('admin'), /^tls_failed: tunnel through HBONE: .* is not spiffe:.*\/sa\/admin$/],
      [other, null, /^tls_failed: .*trust domain of spiffe:\/\/other\.test\/ns\/test\/sa\/app is not accepted$/],
      [stranger, null, /^tls_failed: tunnel through HBONE: 127\.0\.0\.1:\d+: CERT_SIGNATURE_FAILURE$/],
    ] as const) {
      assert.match(await ask(await open(hbone, peer.port, app.target, identity)), expected)
    }
    assert.deepEqual([other.authorities, stranger.authorities], [[], []])
  })

  it('says why there is no tunnel', async (t) => {
    const app = await useApp(t)
    const denies = await useHbonePeer(t, {
      mesh,
      answer(stream, authority) {
        if (authority.endsWith(':1')) stream.respond({ ':status': 403 }, { endStream: true })
        else if (authority.endsWith(':2')) stream.respond({ ':status': 200 }, { endStream: true })
        else if (authority.endsWith(':3')) stream.close(8)
        else stream.session?.destroy()
        return true
      },
    })
    const { hbone } = useHbone(t)
    for (const [target, expected] of [
      ['127.0.0.1:1', /^connect_failed: tunnel through HBONE: 127\.0\.0\.1:\d+: the peer answered 403$/],
      ['127.0.0.1:2', /the peer answered 200 and ended the stream$/],
      ['127.0.0.1:3', /^connect_failed: .*stream closed before the response ended \(code 8\)$/],
      ['127.0.0.1:4', /^connect_failed: .*connection closed before the response/],
    ] as const) {
      assert.match(await ask(await open(hbone, denies.port, target)), expected)
    }
    const stranger = useHbone(t, credentialsOf(1, foreign))
    assert.match(await ask(await open(stranger.hbone, denies.port, app.target)), /closed before the response$/)
    const without = useHbone(t, null)
    assert.equal(
      await ask(await open(without.hbone, denies.port, app.target)),
      'tls_failed: tunnel through HBONE: no mesh certificate yet',
    )
    assert.match(await ask(await open(hbone, 1, app.target)), /^connect_failed: .*127\.0\.0\.1:1: ECONNREFUSED$/)
  })

  it('shows a cut, and no end, when the peer dies', async (t) => {
    const [app, peer] = [await useApp(t), await useHbonePeer(t, { mesh })]
    const { hbone } = useHbone(t)
    const stream = await open(hbone, peer.port, app.target)
    const answer = ask(stream, '/partial')
    await until(() => typeof stream !== 'string' && stream.bytesRead > 0)
    peer.kill()
    assert.match(await answer, /^cut: /)
  })

  it('uses a new connection for a new certificate, and lets streams of the old one end', async (t) => {
    const [app, peer] = [await useApp(t), await useHbonePeer(t, { mesh })]
    const { hbone, state } = useHbone(t)
    const old = await open(hbone, peer.port, app.target)
    state.credentials = credentialsOf(2)
    hbone.certificateChanged()
    assert.ok(typeof old !== 'string' && old.isLeaving === true)
    assert.match(await ask(await open(hbone, peer.port, app.target)), /hello/)
    assert.match(await ask(old), /hello/)
    assert.deepEqual(peer.clients, [spiffeOf('gateway-1'), spiffeOf('gateway-2')])
    await until(() => peer.sessions.size === 1)
  })

  it('uses no connection of an expired certificate for new requests', async (t) => {
    const [app, peer] = [await useApp(t), await useHbonePeer(t, { mesh })]
    const { hbone, state } = useHbone(t)
    const old = await open(hbone, peer.port, app.target)
    state.credentials = null
    hbone.certificateChanged()
    assert.ok(typeof old !== 'string' && old.isLeaving === true)
    assert.match(await ask(await open(hbone, peer.port, app.target)), /no mesh certificate yet$/)
    assert.match(await ask(old), /hello/)
    await until(() => peer.sessions.size === 0)
  })

  it('opens new streams elsewhere after GOAWAY', async (t) => {
    const [app, peer] = [await useApp(t), await useHbonePeer(t, { mesh })]
    const { hbone } = useHbone(t)
    const old = await open(hbone, peer.port, app.target)
    for (const session of peer.sessions) session.goaway()
    await until(() => typeof old !== 'string' && old.isLeaving === true)
    assert.match(await ask(await open(hbone, peer.port, app.target)), /hello/)
    assert.match(await ask(old), /hello/)
    assert.equal(peer.clients.length, 2)
  })
})
