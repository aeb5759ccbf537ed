import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MeshCertificate } from './identity.ts'
import { type MeshState, ReceivedIdentity } from './received-identity.ts'

const trust = { trustDomain: 'cluster.local', additionalTrustDomains: ['other.test'] }
const certificate = (version: number, notAfter: number): MeshCertificate => ({
  key: 'key',
  chain: 'chain',
  roots: 'roots',
  notAfter,
  version,
})
const issued = (version: number, notAfter = 1_000): MeshState => ({
  certificate: certificate(version, notAfter),
  failure: null,
})

test('the local trust domain is always accepted', () => {
  const identity = new ReceivedIdentity(trust, () => 0)
  assert.deepEqual([...identity.acceptedTrustDomains], ['cluster.local', 'other.test'])
})

test('clients do not learn why the CA issued no certificate', () => {
  const identity = new ReceivedIdentity(trust, () => 0)
  assert.equal(identity.current(), null)
  assert.equal(identity.problem(), 'no mesh certificate yet')
  identity.take({ certificate: null, failure: '/var/run/secrets/tokens/istio-token cannot be read (ENOENT)' })
  assert.equal(identity.problem(), 'no mesh certificate yet')
})

test('without `config.mesh` there is never a certificate', () => {
  const identity = new ReceivedIdentity(null, () => 0)
  assert.equal(identity.current(), null)
  assert.equal(identity.problem(), 'the gateway has no mesh identity, `config.mesh` is not set')
})

test('a certificate is used until it expires, also while renewals fail', () => {
  let now = 0
  const identity = new ReceivedIdentity(trust, () => now)
  identity.take(issued(1))
  identity.take({ certificate: certificate(1, 1_000), failure: 'connection refused' })
  now = 999
  assert.equal(identity.current()?.version, 1)
  assert.equal(identity.problem(), null)
  now = 1_000
  assert.equal(identity.current(), null)
  assert.equal(identity.problem(), 'the mesh certificate expired at 1970-01-01T00:00:01.000Z')
  identity.take(issued(2, 2_000))
  assert.equal(identity.current()?.version, 2)
})

test('listeners hear of new versions alone, until they are removed', () => {
  const identity = new ReceivedIdentity(trust, () => 0)
  const heard: (number | undefined)[] = []
  const remove = identity.onChange(() => heard.push(identity.current()?.version))
  identity.take(issued(1))
  identity.take(issued(1))
  identity.take(issued(2))
  remove()
  identity.take(issued(3))
  assert.deepEqual(heard, [1, 2])
})

test('listeners hear of an expiry that no renewal prevented', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const identity = new ReceivedIdentity(trust, Date.now)
  const heard: (number | undefined)[] = []
  identity.onChange(() => heard.push(identity.current()?.version))
  const month = 30 * 86_400_000
  identity.take(issued(1, 1_000))
  identity.take(issued(2, month))
  t.mock.timers.tick(1_000)
  assert.deepEqual(heard, [1, 2])
  t.mock.timers.tick(month - 1_001)
  assert.deepEqual(heard, [1, 2])
  t.mock.timers.tick(1)
  assert.deepEqual(heard, [1, 2, undefined])
  identity.take(issued(3, 0))
  assert.deepEqual(heard, [1, 2, undefined, undefined])
})
