import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { TlsOptions, TLSSocket } from 'node:tls'
import { request } from '../../../testing/client.ts'
import { lookupIn } from '../../../testing/lookup.ts'
import { httpConfig, useGateway } from '../../../testing/scene.ts'
import { useTlsFiles } from '../../../testing/tls-files.ts'

async function setUp(t: TestContext, options: TlsOptions = {}) {
  const { dir } = useTlsFiles(t, ['app.test', 'client'])
  const read = (file: string) => readFileSync(join(dir, file), 'utf8')
  const seen: { sni: string | false | null; client: string | undefined; host: string | undefined }[] = []
  const server = createServer(
    { cert: read('app.test.crt'), key: read('app.test.key'), ca: read('ca.crt'), ...options },
    (message, response) => {
      const socket = message.socket as TLSSocket & { servername: string | false | null }
      seen.push({
        sni: socket.servername,
        client: socket.getPeerCertificate().subject?.CN as string | undefined,
        host: message.headers.host,
      })
      response.end('secure')
    },
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  /** The answer through a gateway that reaches the server under that name with that policy. */
  const ask = async (name: string, tls: object) => {
    const route = { backends: [{ host: `${name}:${port}`, policies: { tls } }] }
    const lookup = lookupIn({ 'app.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'] })
    const gateway = await useGateway(t, httpConfig([route]), { dir, lookup })
    const { status, body } = await request(gateway.port())
    return `${status} ${body}`
  }
  return { seen, ask }
}

const ca = { caCertificateRefs: ['ca.crt'] }

test('a certificate of the given authority is accepted, and the name is asked for', async (t) => {
  const { seen, ask } = await setUp(t)
  assert.equal(await ask('app.test', ca), '200 secure')
  assert.equal(seen[0]!.sni, 'app.test')
  assert.match(seen[0]!.host!, /^app\.test:/)
})

test('without an authority that knows it, a certificate is refused', async (t) => {
  const { seen, ask } = await setUp(t)
  assert.match(await ask('app.test', {}), /^503 upstream call failed: /)
  assert.equal(seen.length, 0)
})

test('a certificate for another name is refused', async (t) => {
  const { seen, ask } = await setUp(t)
  assert.match(
    await ask('other.test', ca),
    /^503 upstream call failed: the certificate of the backend is not for other.test/,
  )
  assert.equal(seen.length, 0)
})

test('the name to ask for, and so to verify, can be given', async (t) => {
  const { seen, ask } = await setUp(t)
  assert.equal(await ask('other.test', { ...ca, sni: 'app.test' }), '200 secure')
  assert.equal(await ask('127.0.0.1', { ...ca, sni: 'app.test' }), '200 secure')
  assert.deepEqual(
    seen.map(({ sni }) => sni),
    ['app.test', 'app.test'],
  )
})

test('the names to verify can be given apart from the one to ask for', async (t) => {
  const { ask } = await setUp(t)
  assert.equal(await ask('other.test', { ...ca, verifySubjectAltNames: ['x.test', 'app.test'] }), '200 secure')
  assert.match(await ask('app.test', { ...ca, verifySubjectAltNames: ['x.test'] }), /^503 /)
})

test('insecureSkipVerify Hostname checks the authority only, and All checks nothing', async (t) => {
  const { ask } = await setUp(t)
  assert.equal(await ask('other.test', { ...ca, insecureSkipVerify: 'Hostname' }), '200 secure')
  assert.match(await ask('other.test', { insecureSkipVerify: 'Hostname' }), /^503 /)
  assert.equal(await ask('other.test', { insecureSkipVerify: 'All' }), '200 secure')
})

test('the backend gets the client certificate', async (t) => {
  const { seen, ask } = await setUp(t, { requestCert: true, rejectUnauthorized: true })
  const mtlsCertificateRef = { cert: 'client.crt', key: 'client.key', ca: 'ca.crt' }
  assert.equal(await ask('app.test', { mtlsCertificateRef }), '200 secure')
  assert.equal(seen[0]!.client, 'client')
  assert.match(await ask('app.test', ca), /^503 /)
})
