import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { createAuthority, type IssuedCertificate } from '../../../gateway/src/testing/certificates.ts'
import type { Credentials } from './connection.ts'
import { KubeClient } from './kube-client.ts'

test('the server is verified, and gets our certificate', async (t) => {
  const authority = createAuthority()
  const port = await useServer(t, authority.issue({ names: ['api.example', '127.0.0.1'] }), authority.cert)
  const ask = async (credentials: Credentials, host = '127.0.0.1'): Promise<unknown> => {
    const client = new KubeClient({
      server: `https://${host}:${port}`,
      credentials: () => Promise.resolve(credentials),
    })
    t.after(() => client.close())
    return client.ask({ path: '/api' })
  }
  const { cert, key } = authority.issue({ commonName: 'controller' })
  assert.deepEqual(await ask({ ca: authority.cert, cert, key }), { caller: 'controller' })
  assert.deepEqual(await ask({ ca: authority.cert, cert, key, serverName: 'api.example' }), { caller: 'controller' })
  assert.deepEqual(await ask({ insecure: true }), { caller: null })
  await assert.rejects(ask({ ca: createAuthority().cert }), /^KubeError: GET \/api: /)
  await assert.rejects(
    ask({ ca: authority.cert, serverName: 'other.example' }),
    /^KubeError: GET \/api: .*other\.example/,
  )
})

test('changed certificates are used from the next request on', async (t) => {
  const authority = createAuthority()
  const port = await useServer(t, authority.issue({ names: ['127.0.0.1'] }), authority.cert)
  let current: Credentials = { ca: authority.cert, ...authority.issue({ commonName: 'old' }) }
  const client = new KubeClient({ server: `https://127.0.0.1:${port}`, credentials: () => Promise.resolve(current) })
  t.after(() => client.close())
  assert.deepEqual(await client.ask({ path: '/api' }), { caller: 'old' })
  current = { ca: authority.cert, ...authority.issue({ commonName: 'new' }) }
  assert.deepEqual(await client.ask({ path: '/api' }), { caller: 'new' })
})

/** A server that responds with the name in the client certificate. */
async function useServer(t: TestContext, own: IssuedCertificate, ca: string): Promise<number> {
  const server = createServer({ ...own, ca, requestCert: true, rejectUnauthorized: false }, (request, response) => {
    const { subject } = (request.socket as TLSSocket).getPeerCertificate()
    response.end(JSON.stringify({ caller: subject?.CN ?? null }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return (server.address() as AddressInfo).port
}
