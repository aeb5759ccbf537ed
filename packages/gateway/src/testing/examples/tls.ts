import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { createAuthority, type TestAuthority } from '../certificates.ts'
import { exchangeRaw, request } from '../client.ts'
import { lookupIn } from '../lookup.ts'
import { useOrigin, useTcpServer } from '../scene.ts'
import { openTls, requestTls } from '../tls-client.ts'
import type { ExampleCase } from './example-case.ts'

/** Examples about TLS, and about connections that are passed on as they are. */
export const tlsExamples: Record<string, ExampleCase> = {
  async 'tls-and-sni.yaml'(t) {
    const { dir, authority } = useCertificates(t)
    const site = await useOrigin(t, (_request, response) => response.end('site'))
    const api = await useHttps(t, authority, 'api.internal')
    const ca = authority.cert
    return {
      replace: { '127.0.0.1:9001': site.host, 'host: api.internal, port: 8443': `host: api.internal, port: ${api}` },
      gateway: { dir, lookup: lookupIn({ 'api.internal': ['127.0.0.1'] }), env: { CURL_CA_BUNDLE: 'certs/ca.crt' } },
      shows: [/^site$/, /^\/api\/users for the bearer of client$/],
      async check(gateway) {
        const site = await requestTls(gateway.port(), { ca, servername: 'www.example.com' })
        assert.equal(site.body, 'site')
        const client = authority.issue({ commonName: 'client' })
        const admin = { ca, servername: 'admin.example.com', path: '/api' }
        assert.match((await requestTls(gateway.port(), { ...admin, ...client })).body, /bearer of client/)
        await assert.rejects(requestTls(gateway.port(), admin), /certificate required/)
        const redirect = await request(gateway.port(1), { path: '/a', headers: { host: 'www.example.com' } })
        assert.equal(redirect.headers['location'], 'https://www.example.com:8443/a')
      },
    }
  },

  async 'mtls.yaml'(t) {
    const { dir, authority } = useCertificates(t)
    const orders = await useHttps(t, authority, 'orders.internal')
    const own = { ca: authority.cert, servername: 'api.example.com' }
    return {
      replace: { 'port: 9443': `port: ${orders}` },
      gateway: { dir },
      shows: [/^\/orders for the bearer of gateway$/],
      async check(gateway) {
        const answer = await requestTls(gateway.port(), { ...own, ...authority.issue() })
        assert.equal(answer.body, '/ for the bearer of gateway')
        const stranger = createAuthority('Another').issue()
        // The connection ends without an answer, or with an alert.
        const unanswered = await requestTls(gateway.port(), { ...own, ...stranger }).catch(() => ({ text: '' }))
        assert.equal(unanswered.text, '')
        await assert.rejects(requestTls(gateway.port(), own), /certificate required/)
      },
    }
  },

  async 'passthrough.yaml'(t) {
    const { dir, authority } = useCertificates(t)
    const shop = await useHttps(t, authority, 'shop.example.com', { asksForCertificate: false })
    const database = await useTcpServer(t, (socket) =>
      socket.on('data', (data) => socket.write(`got ${data.toString()}`)),
    )
    return {
      replace: { '10.0.0.5:443': `127.0.0.1:${shop}`, 'db.internal:5432': database.host },
      gateway: {
        dir,
        env: { CURL_CA_BUNDLE: 'certs/ca.crt' },
        lookup: lookupIn({ 'inside.example.org': ['10.0.0.9'] }),
      },
      shows: [/^\/ for nobody$/],
      async check(gateway) {
        const own = { ca: authority.cert, servername: 'shop.example.com' }
        assert.equal((await requestTls(gateway.port(), own)).body, '/ for nobody')
        await assert.rejects(openTls(gateway.port(), { servername: 'inside.example.org' }))
        assert.equal(await exchangeRaw(gateway.port(1), 'select', (text) => text.endsWith('select')), 'got select')
      },
    }
  },
}

/** A folder with `certs/` as the examples name its files, all of one authority. */
function useCertificates(t: TestContext): { dir: string; authority: TestAuthority } {
  const dir = mkdtempSync(join(tmpdir(), 'example-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const certs = join(dir, 'certs')
  mkdirSync(certs)
  const authority = createAuthority()
  for (const name of ['ca', 'client-ca', 'internal-ca']) writeFileSync(join(certs, `${name}.crt`), authority.cert)
  for (const name of ['tls', 'client', 'gateway']) {
    const { cert, key } = authority.issue({ commonName: name, names: ['*.example.com'] })
    writeFileSync(join(certs, `${name}.crt`), cert)
    writeFileSync(join(certs, `${name}.key`), key)
  }
  return { dir, authority }
}

/** A backend that speaks TLS and says whose certificate it was shown. */
async function useHttps(
  t: TestContext,
  authority: TestAuthority,
  name: string,
  { asksForCertificate = true } = {},
): Promise<number> {
  const options = { ...authority.issue({ names: [name] }), ca: authority.cert, requestCert: asksForCertificate }
  const server = createServer(options, (message, response) => {
    const { subject } = (message.socket as TLSSocket).getPeerCertificate()
    response.end(`${message.url} for ${subject === undefined ? 'nobody' : `the bearer of ${String(subject.CN)}`}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
