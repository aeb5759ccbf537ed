import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, it } from 'node:test'
import { pemChecks } from './pem-checks.ts'

describe('checks of PEM texts', () => {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })

  it('report the problem without the value', () => {
    const problem = 'not a certificate and its key in PEM'
    assert.equal(pemChecks.pair('nonsense', privateKey), problem)
    assert.equal(pemChecks.pair('', ''), problem)
    assert.equal(pemChecks.authorities('nonsense'), 'there is no certificate in PEM')
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'
    assert.equal(pemChecks.authorities(broken), 'a certificate cannot be read')
  })
})
