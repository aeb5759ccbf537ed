import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import { createAuthority } from '../testing/certificates.ts'
import { until } from '../testing/scene.ts'
import { useMeshCa } from '../testing/services/mesh-ca.ts'
import { CertificateSource, type CertificateSourceOptions } from './certificate-source.ts'
import type { MeshState } from './received-identity.ts'

const identity = { trustDomain: 'cluster.local', namespace: 'shop', serviceAccount: 'edge' }
const URI = 'spiffe://cluster.local/ns/shop/sa/edge'
const SECOND = 1 / 86_400

type Ca = Awaited<ReturnType<typeof useMeshCa>>

function useSource(t: TestContext, ca: Ca, options: Partial<CertificateSourceOptions> = {}) {
  const states: MeshState[] = []
  const lines: string[] = []
  const note = (message: string, fields = {}): number => lines.push(`${message} ${JSON.stringify(fields)}`)
  const source = new CertificateSource({
    ca: { host: '127.0.0.1', port: ca.port },
    identity,
    clusterId: 'Kubernetes',
    tokenFile: ca.tokenFile,
    rootFile: ca.rootFile,
    changed: (state) => states.push(state),
    log: { trace: note, debug: note, info: note, warn: note, error: note, module: 'mesh', enabled: () => true },
    firstPauseMs: 20,
    longestPauseMs: 40,
    rootPollMs: 20,
    ...options,
  })
  t.after(() => source.close())
  source.start()
  return { source, states, lines }
}

test('a certificate is obtained with the token, and leads to the roots', async (t) => {
  const ca = await useMeshCa(t, { names: [URI] })
  const { source, states } = useSource(t, ca)
  await until(() => states.length > 0)
  const { certificate, failure } = states[0] ?? assert.fail()
  assert.equal(failure, null)
  const leaf = new X509Certificate(certificate?.chain ?? '')
  assert.equal(leaf.subjectAltName, `URI:${URI}`)
  assert.equal(certificate?.chain.match(/BEGIN/g)?.length, 1)
  assert.equal(certificate?.roots, ca.authority.cert)
  assert.equal(certificate?.version, 1)
  assert.equal(certificate?.notAfter, leaf.validToDate.getTime())
  assert.equal(source.notAfterSeconds, leaf.validToDate.getTime() / 1000)
  const [{ token, clusterId, validitySeconds } = assert.fail()] = ca.requests
  assert.deepEqual([token, clusterId, validitySeconds], ['token-of-edge', 'Kubernetes', 86_400])
})

test('a certificate is renewed at half of its life, with another key', async (t) => {
  const ca = await useMeshCa(t, { names: [URI], validToDays: 3 * SECOND })
  const { states } = useSource(t, ca)
  await until(() => states.length >= 2)
  const [first, second] = states.map(({ certificate }) => certificate)
  assert.deepEqual([first?.version, second?.version], [1, 2])
  assert.notEqual(first?.key, second?.key)
  assert.ok((second?.notAfter ?? 0) >= (first?.notAfter ?? 0))
})

test('a CA that is away is tried again, and the certificate stays in use', async (t) => {
  const ca = await useMeshCa(t, { names: [URI], validToDays: 4 * SECOND })
  await ca.stop()
  const { source, states, lines } = useSource(t, ca)
  await until(() => source.counts.failure >= 2)
  assert.equal(states[0]?.certificate, null)
  assert.match(states[0]?.failure ?? '', /^the mesh CA cannot be reached \(.*ECONNREFUSED/)
  assert.equal(lines.filter((line) => line.startsWith('no new mesh certificate')).length, source.counts.failure)
  await ca.start()
  await until(() => source.state.certificate !== null)
  assert.equal(source.state.failure, null)
  await ca.stop()
  await until(() => source.state.failure !== null)
  assert.equal(source.state.certificate?.version, 1)
  await until(() => lines.some((line) => line.startsWith('mesh certificate expired')))
  await ca.start()
  await until(() => source.state.certificate?.version === 2)
})

test('the token and the root are read for every request', async (t) => {
  const ca = await useMeshCa(t, { names: [URI] })
  writeFileSync(ca.tokenFile, 'stale')
  const { source } = useSource(t, ca)
  const failsWith = (reason: RegExp): Promise<void> => until(() => reason.test(source.state.failure ?? ''))
  await failsWith(/^the mesh CA rejected the token \(request authenticate failure\)$/)
  rmSync(ca.tokenFile)
  await failsWith(/token cannot be read \(ENOENT\)$/)
  writeFileSync(ca.tokenFile, ' \n')
  await failsWith(/token is empty$/)
  writeFileSync(ca.tokenFile, 'two tokens')
  await failsWith(/token has no token$/)
  writeFileSync(ca.tokenFile, 'token-of-edge')
  writeFileSync(ca.rootFile, createAuthority('Other CA').cert)
  await failsWith(/^the root file does not verify the mesh CA \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)$/)
  writeFileSync(ca.rootFile, 'no certificate')
  await failsWith(/no CA certificate/)
  assert.equal(source.state.certificate, null)
  writeFileSync(ca.rootFile, ca.authority.cert)
  await until(() => source.state.certificate !== null)
})

test('the token is redacted when the CA repeats it', async (t) => {
  const ca = await useMeshCa(t, { names: [URI] })
  const [part] = Buffer.from('{"alg":"none"}').toString('base64url').split('=')
  const token = `${part}.${part}.${'s'.repeat(600)}`
  writeFileSync(ca.tokenFile, token)
  ca.refusal = (token) => `token "${token}" is not valid, nor is its head ${part}.${part}`
  const { source, lines } = useSource(t, ca)
  await until(() => source.state.failure !== null && lines.length > 0)
  const said = `the mesh CA rejected the token (token "[redacted]" is not valid, nor is its head [redacted])`
  assert.equal(source.state.failure, said)
  assert.deepEqual(
    lines.filter((line) => line.includes(part ?? '') || line.includes('sss')),
    [],
  )
})

test('odd responses of the CA are rejected', async (t) => {
  const ca = await useMeshCa(t, { names: [URI] })
  ca.respond = () => []
  const { source } = useSource(t, ca)
  const failsWith = (reason: RegExp): Promise<void> => until(() => reason.test(source.state.failure ?? ''))
  await failsWith(/issued no certificate$/)
  ca.respond = () => ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n']
  await failsWith(/cannot be read$/)
  ca.respond = () => [ca.authority.issue({ names: [URI] }).cert]
  await failsWith(/certificate of another key$/)
  ca.respond = null
  ca.issue = { names: ['spiffe://other.test/ns/shop/sa/edge'] }
  await failsWith(/for spiffe:\/\/other\.test\/ns\/shop\/sa\/edge, expected spiffe:\/\/cluster\.local\//)
  for (const names of [[], ['edge.example'], [URI, 'spiffe://cluster.local/ns/shop/sa/admin']]) {
    ca.issue = { names }
    await failsWith(/for no identity, expected/)
    ca.issue = { names: [URI], validToDays: -SECOND }
    await failsWith(/certificate that expired at /)
  }
  assert.equal(source.state.certificate, null)
})

test('new roots apply at once, and replace a certificate that they do not trust', async (t) => {
  const ca = await useMeshCa(t, { names: [URI] })
  const { source } = useSource(t, ca)
  await until(() => source.state.certificate !== null)
  const { key } = source.state.certificate ?? assert.fail()
  const both = ca.authority.cert + createAuthority('Next CA').cert
  writeFileSync(ca.rootFile, both)
  await until(() => source.state.certificate?.roots === both)
  assert.equal(source.state.certificate?.key, key)
  assert.equal(source.state.certificate?.version, 2)
  writeFileSync(ca.rootFile, createAuthority('Other CA').cert)
  await until(() => source.state.failure !== null)
  // Peers are still verified with the roots that the certificate leads to.
  assert.equal(source.state.certificate?.roots, both)
})
