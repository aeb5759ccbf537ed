import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAuthority } from '../../../../gateway/src/testing/certificates.ts'
import { createServerTls, type ServerTlsPolicy } from './tls.ts'

const authority = createAuthority()
const listener = { ...authority.issue({ names: ['a.test'] }), root: null }

describe('TLS settings of a listener', () => {
  it('are refused when certificate and key do not belong together', () => {
    assert.match(problemOf({ ...listener, key: authority.key }, null), /key values mismatch/)
  })

  it('are refused when a PEM text is none', () => {
    assert.notEqual(problemOf({ ...listener, cert: 'nonsense' }, null), '')
    assert.notEqual(problemOf({ ...listener, key: 'nonsense' }, null), '')
    assert.match(problemOf({ ...listener, root: 'nonsense' }, null), /no CA certificate/)
    const broken = authority.cert + authority.cert.replace(/MII.{9}/, 'MIIAAAAAAAAA')
    assert.match(problemOf({ ...listener, root: broken }, null), /CA certificate 2 cannot be read/)
  })

  const conflicts: [ServerTlsPolicy, RegExp][] = [
    [{ minProtocolVersion: '1.3', maxProtocolVersion: '1.2' }, /above/],
    [{ minProtocolVersion: '1.3', cipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'] }, /only TLS version/],
    [{ maxProtocolVersion: '1.2', cipherSuites: ['TLS13_AES_128_GCM_SHA256'] }, /only TLS version/],
  ]
  for (const [policy, message] of conflicts) {
    it(`are refused when no client could ever connect: ${JSON.stringify(policy)}`, () => {
      assert.match(problemOf(listener, policy), message)
    })
  }

  it('have equal keys only when they are equal', () => {
    const keys = [
      keyOf(listener, null),
      keyOf({ ...listener, root: authority.cert }, null),
      keyOf(listener, { minProtocolVersion: '1.3' }),
    ]
    assert.equal(new Set(keys).size, 3)
    assert.equal(keyOf({ ...listener }, null), keys[0])
  })
})

function problemOf(...args: Parameters<typeof createServerTls>): string {
  const result = createServerTls(...args)
  return 'problem' in result ? result.problem.message : ''
}

function keyOf(...args: Parameters<typeof createServerTls>): string {
  const result = createServerTls(...args)
  assert.ok('tls' in result)
  return result.tls.key
}
