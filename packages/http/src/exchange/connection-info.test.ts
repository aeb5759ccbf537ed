import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { createAuthority } from '../../../gateway/src/testing/certificates.ts'
import { verifiedCertificate } from './client-certificate.ts'
import { connectionInfo } from './connection-info.ts'

async function usePair(t: TestContext): Promise<{ accepted: Socket; client: Socket; port: number }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect(port, '127.0.0.1')
  const [[accepted]] = (await Promise.all([once(server, 'connection'), once(client, 'connect')])) as [[Socket], unknown]
  server.close()
  t.after(() => [accepted, client].forEach((socket) => socket.destroy()))
  return { accepted, client, port }
}

test('a connection is known by both its ends', async (t) => {
  const { accepted, client, port } = await usePair(t)
  const info = connectionInfo(accepted, null, 'a.test')
  assert.deepEqual([info.address, info.port], ['127.0.0.1', client.localPort])
  assert.deepEqual([info.rawAddress, info.rawPort], ['127.0.0.1', client.localPort])
  assert.equal(info.source, `127.0.0.1:${client.localPort}`)
  assert.deepEqual(info.destination(), { address: '127.0.0.1', port })
  assert.deepEqual([info.scheme, info.sni, info.handshake, info.principal()], ['http', 'a.test', '', ''])
})

test('a connection that is closed before it is looked at has no address, and port 0', async (t) => {
  const { accepted } = await usePair(t)
  accepted.destroy()
  const info = connectionInfo(accepted, null, '')
  assert.deepEqual([info.address, info.port, info.rawPort, info.source], ['', 0, 0, ':0'])
  assert.deepEqual(info.destination(), { address: '', port: 0 })
})

test('an address that was looked at stays known when the connection closes', async (t) => {
  const { accepted, port } = await usePair(t)
  const info = connectionInfo(accepted, null, '')
  info.destination()
  accepted.destroy()
  assert.deepEqual(info.destination(), { address: '127.0.0.1', port })
})

test('the addresses in a PROXY header are used, and the address of the proxy is kept', async (t) => {
  const { accepted, client } = await usePair(t)
  const ends = { source: { address: '2001:db8::1', port: 7 }, destination: { address: '2001:db8::2', port: 8 } }
  const info = connectionInfo(accepted, { ...ends, isLocal: false } as Parameters<typeof connectionInfo>[1], '')
  assert.deepEqual([info.address, info.port, info.source], ['2001:db8::1', 7, '[2001:db8::1]:7'])
  assert.deepEqual([info.rawAddress, info.rawPort], ['127.0.0.1', client.localPort])
  assert.deepEqual(info.destination(), ends.destination)
})

test('a client of TLS is known by the certificate that it has shown, if it has shown one', async (t) => {
  const authority = createAuthority()
  const own = authority.issue({ names: ['a.test'] })
  const server = createTlsServer({ ...own, ca: authority.cert, requestCert: true, rejectUnauthorized: false })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  for (const [names, principal] of [
    [['spiffe://x/client'], 'spiffe://x/client'],
    [null, ''],
  ] as const) {
    const shown = names === null ? {} : authority.issue({ names: [...names] })
    const client = connectTls({ port, host: '127.0.0.1', servername: 'a.test', ca: authority.cert, ...shown })
    const [secure] = (await once(server, 'secureConnection')) as [TLSSocket]
    t.after(() => [client, secure].forEach((socket) => socket.destroy()))
    const info = connectionInfo(secure, null, 'a.test', { certificate: verifiedCertificate(secure) })
    assert.deepEqual([info.scheme, info.principal()], ['https', principal])
    assert.equal(info.certificate?.principal ?? '', principal)
    assert.equal(info.certificate, info.certificate)
  }
})

test('all connections have one shape, whether they use TLS or not', async (t) => {
  const { accepted, client } = await usePair(t)
  const plain = connectionInfo(accepted, null, '')
  const secure = connectionInfo(client, null, 'a.test', { certificate: undefined })
  // The syntax is parsed at the first call.
  setFlagsFromString('--allow-natives-syntax')
  const haveOneShape = runInNewContext('(a, b) => %HaveSameMap(a, b)') as (a: object, b: object) => boolean
  assert.equal(haveOneShape(plain, secure), true)
  setFlagsFromString('--no-allow-natives-syntax')
  assert.equal(haveOneShape(secure, connectionInfo(client, null, 'b.test', { certificate: undefined })), true)
})
