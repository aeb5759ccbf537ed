import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { connect, createServer } from 'node:tls'
import * as fc from 'fast-check'
import { createAuthority, issueServing, type KeyPair } from './certificate.ts'
import { integer, objectId, time } from '@portico/http/der'

const NAMES = ['portico.portico-system.svc', 'portico.portico-system', '127.0.0.1', 'fd00::1:7', '::ffff:10.0.0.7']
const validity = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) }
const authority = createAuthority('Portico controller 1', validity)

test('an authority signs servers, and no other authority', () => {
  const cert = new X509Certificate(authority.cert)
  assert.equal(cert.ca, true)
  assert.equal(cert.subject, 'CN=Portico controller 1')
  assert.equal(cert.issuer, cert.subject)
  assert.ok(cert.verify(cert.publicKey))
  assert.ok(cert.checkIssued(cert))
  assert.ok(cert.checkPrivateKey(createPrivateKey(authority.key)))
  assert.ok(cert.toLegacyObject().serialNumber.length >= 32)
})

test('a serving certificate has the names of the controller and ends with its authority', () => {
  const later = { from: validity.from, to: new Date(Date.now() + 7_200_000) }
  const serving = issueServing(authority, { names: NAMES, name: 'portico-controller', validity: later })
  const cert = new X509Certificate(serving.cert)
  const issuer = new X509Certificate(authority.cert)
  assert.ok(cert.checkIssued(issuer))
  assert.ok(cert.verify(issuer.publicKey))
  assert.ok(cert.checkPrivateKey(createPrivateKey(serving.key)))
  assert.equal(cert.ca, false)
  assert.equal(cert.validTo, issuer.validTo)
  assert.deepEqual(cert.keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'])
  for (const host of NAMES.slice(0, 2)) assert.equal(cert.checkHost(host), host)
  for (const address of NAMES.slice(2)) assert.ok(cert.checkIP(address), address)
  assert.equal(cert.checkHost('other.portico-system.svc'), undefined)
  assert.equal(cert.checkIP('127.0.0.2'), undefined)
})

test('a text that is not a host name is rejected', () => {
  for (const name of ['é.example', 'a b', '', 'x'.repeat(254)])
    assert.throws(() => issueServing(authority, { names: [name], name: 'x', validity }), /is not a host name/)
})

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

test('OpenSSL accepts the chain in strict mode', { skip: !hasOpenssl && 'openssl is not installed' }, (t) => {
  const folder = useFolder(t)
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const serving = issueServing(authority, { names: NAMES, name: 'portico-controller', validity })
  const strict = ['-x509_strict', '-check_ss_sig', '-purpose', 'sslserver']
  const verify = (ca: KeyPair, cert: string, host = 'portico.portico-system.svc'): string =>
    execFileSync(
      'openssl',
      ['verify', ...strict, '-verify_hostname', host, '-CAfile', file('ca.crt', ca.cert), file('serving.crt', cert)],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    )
  assert.match(verify(authority, serving.cert), /serving\.crt: OK/)
  assert.throws(() => verify(authority, serving.cert, 'other.example'), /hostname mismatch/i)
  assert.throws(
    () => verify(createAuthority('Portico controller 1', validity), serving.cert),
    /unable to get|signature/,
  )
  // A certificate signed by a serving certificate is not valid.
  const below = issueServing(serving, { names: NAMES, name: 'x', validity })
  assert.throws(() => verify(authority, below.cert))
})

test('serves TLS to clients that trust the authority, and to no others', async (t) => {
  const serving = issueServing(authority, { names: NAMES, name: 'portico-controller', validity })
  const server = createServer({ ...serving, minVersion: 'TLSv1.3' }, (socket) => socket.end('hello'))
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const shake = async (ca: string, servername?: string): Promise<void> => {
    const socket = connect({ port, host: '127.0.0.1', ca, ...(servername !== undefined && { servername }) })
    try {
      await once(socket, 'secureConnect')
    } finally {
      socket.destroy()
    }
  }
  const other = createAuthority('Portico controller 2', validity)
  await shake(authority.cert)
  await shake(authority.cert, 'portico.portico-system.svc')
  await shake(other.cert + authority.cert)
  await assert.rejects(shake(other.cert), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
  await assert.rejects(shake(authority.cert, 'other.example'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
})

test('integers, object ids and times follow DER', () => {
  assert.equal(integer(Buffer.of()).toString('hex'), '020100')
  assert.equal(integer(Buffer.of(0, 0, 0x7f)).toString('hex'), '02017f')
  assert.equal(integer(Buffer.of(0x80)).toString('hex'), '02020080')
  assert.equal(objectId('1.2.840.10045.4.3.2').toString('hex'), '06082a8648ce3d040302')
  assert.equal(objectId('2.999.1').toString('hex'), '0603883701')
  assert.equal(time(new Date('2049-12-31T23:59:59.999Z')).toString('latin1'), '\x17\r491231235959Z')
  assert.equal(time(new Date('2050-01-01T00:00:00Z')).toString('latin1'), '\x18\x0f20500101000000Z')
})

test('names and times survive a round trip', () => {
  const date = fc.date({
    min: new Date('2000-01-01T00:00:00Z'),
    max: new Date('2090-01-01T00:00:00Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(fc.constantFrom('a', 'é', '€', '😀'), fc.nat({ max: 300 }), date, (unit, times, from) => {
      const to = new Date(from.getTime() + 86_400_000)
      const cert = new X509Certificate(createAuthority(unit.repeat(times + 1), { from, to }).cert)
      assert.equal(cert.validFromDate.getTime(), Math.floor(from.getTime() / 1000) * 1000)
      assert.equal(cert.validToDate.getTime(), Math.floor(to.getTime() / 1000) * 1000)
      assert.ok(cert.checkIssued(cert))
    }),
    { numRuns: 100 },
  )
})

function useFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-certificate-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}
