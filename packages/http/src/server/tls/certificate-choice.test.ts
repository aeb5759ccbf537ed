import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test, type TestContext } from 'node:test'
import { connect, type ConnectionOptions } from 'node:tls'
import { createAuthority } from '../../../../gateway/src/testing/certificates.ts'
import { createServerTls, type HandshakeResult, type ServerTlsPolicy } from './tls.ts'

const authority = createAuthority()
const first = authority.issue({ commonName: 'first', names: ['first.test', 'shared.test'] })
const second = authority.issue({ commonName: 'second', names: ['*.second.test', 'shared.test'] })
const unnamed = authority.issue({ commonName: 'unnamed.test' })
const client = authority.issue({ commonName: 'client' })
const stranger = createAuthority('Another CA').issue({ commonName: 'stranger' })

type Listener = Parameters<typeof createServerTls>[0]
const plain: Listener = { ...first, root: null }

function tlsOf(listener: Listener, policy: ServerTlsPolicy | null = null) {
  const made = createServerTls(listener, policy)
  assert.ok('tls' in made)
  return made.tls
}

/** Returns a client's view of handshakes with the listener: the certificate that it was shown, and the result here. */
async function useListener(t: TestContext, listener: Listener, policy: ServerTlsPolicy | null = null) {
  const tls = tlsOf(listener, policy)
  const results: ((result: HandshakeResult) => void)[] = []
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => {})
    tls.handshake(socket, (result) => {
      if ('socket' in result) result.socket.on('error', () => {})
      results.shift()?.(result)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return async (options: ConnectionOptions) => {
    const { promise, resolve } = Promise.withResolvers<HandshakeResult>()
    results.push(resolve)
    const { port } = server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
    socket.on('error', () => {})
    const settled = new Promise<void>((done) => socket.once('secureConnect', done).once('close', () => done()))
    const result = await promise
    await settled
    const shown = socket.getPeerX509Certificate()?.subject ?? ''
    socket.destroy()
    if ('socket' in result) result.socket.destroy()
    return { shown: /CN=(.+)/.exec(shown)?.[1] ?? 'none', result }
  }
}

test('a listener with several certificates shows each client the one for its name', async (t) => {
  const handshake = await useListener(t, { ...plain, others: [second, unnamed] })
  const shown = async (servername: string) => (await handshake({ servername })).shown
  assert.equal(await shown('first.test'), 'first')
  assert.equal(await shown('a.second.test'), 'second')
  assert.equal(await shown('shared.test'), 'first')
  assert.equal(await shown('unnamed.test'), 'unnamed.test')
  assert.equal(await shown('other.test'), 'first')
  assert.match(new X509Certificate(unnamed.cert).subject, /CN=unnamed\.test/)
})

test('every certificate of a listener is subject to its other settings', async (t) => {
  const handshake = await useListener(t, { ...plain, root: authority.cert, others: [second] })
  for (const servername of ['first.test', 'a.second.test']) {
    const { result } = await handshake({ servername })
    assert.ok('reason' in result && result.cause === 'client_certificate', servername)
    const admitted = await handshake({ servername, ...client })
    assert.ok('socket' in admitted.result && admitted.result.socket.authorized, servername)
  }
})

for (const [name, listener, policy] of [
  ['the policy', { ...plain, root: authority.cert }, { clientCertificates: 'Request' }],
  [
    'the listener',
    { ...plain, root: authority.cert, clientCertificates: 'Request' },
    { clientCertificates: 'Require' },
  ],
] as const) {
  test(`a certificate that ${name} requests may be missing, but not be foreign`, async (t) => {
    const handshake = await useListener(t, listener, policy)
    const without = await handshake({ servername: 'first.test' })
    assert.ok('socket' in without.result && !without.result.socket.authorized)
    const own = await handshake({ servername: 'first.test', ...client })
    assert.ok('socket' in own.result && own.result.socket.authorized)
    const foreign = await handshake({ servername: 'first.test', ...stranger })
    assert.ok('reason' in foreign.result)
    assert.match(foreign.result.reason, /^client certificate: /)
    assert.equal(foreign.result.cause, 'client_certificate')
  })
}

test('a required certificate is neither missing nor foreign, and the reason says which', async (t) => {
  const handshake = await useListener(t, { ...plain, root: authority.cert }, { clientCertificates: 'Require' })
  const without = await handshake({ servername: 'first.test' })
  assert.ok('reason' in without.result && without.result.cause === 'client_certificate')
  const foreign = await handshake({ servername: 'first.test', ...stranger })
  assert.ok('reason' in foreign.result && foreign.result.cause === 'client_certificate')
  const own = await handshake({ servername: 'first.test', ...client })
  assert.ok('socket' in own.result)
})

test('a listener whose clients may lack a certificate admits foreign ones too, as unverified', async (t) => {
  const handshake = await useListener(t, { ...plain, root: authority.cert, clientsMayLack: true })
  for (const [shown, isVerified] of [
    [{}, false],
    [stranger, false],
    [client, true],
  ] as const) {
    const { result } = await handshake({ servername: 'first.test', ...shown })
    assert.ok('socket' in result)
    assert.equal(result.socket.authorized, isVerified)
  }
})

test('a client whose versions do not fit is refused for another reason than its certificate', async (t) => {
  const handshake = await useListener(t, { ...plain, root: authority.cert }, { minProtocolVersion: '1.3' })
  const { result } = await handshake({ servername: 'first.test', maxVersion: 'TLSv1.2', ...client })
  assert.ok('reason' in result)
  assert.deepEqual([/version|protocol/.test(result.reason), result.cause], [true, 'no_agreement'])
})

test('equal settings keep what was made for them, other settings do not', () => {
  const known = tlsOf(plain)
  const again = createServerTls({ ...plain }, null, undefined, known)
  assert.ok('tls' in again && again.tls === known)
  for (const other of [
    { ...plain, others: [second] },
    { ...plain, clientsMayLack: true as const },
  ]) {
    const made = createServerTls(other, null, undefined, known)
    assert.ok('tls' in made && made.tls !== known && made.tls.key !== known.key)
  }
})
