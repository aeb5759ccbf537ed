import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { createAuthority } from '../../../gateway/src/testing/certificates.ts'
import { principalOf } from './client-certificate.ts'

test('a URI comes before a name, a name before the subject', () => {
  const authority = createAuthority()
  const of = (names: string[]): string =>
    principalOf(new X509Certificate(authority.issue({ commonName: 'ann', names }).cert))
  assert.equal(of(['a.test', 'spiffe://x/ns/y/sa/z', 'spiffe://other', '127.0.0.1']), 'spiffe://x/ns/y/sa/z')
  assert.equal(of(['127.0.0.1', 'a.test', 'b.test']), 'a.test')
  assert.equal(of(['127.0.0.1']), 'CN=ann')
  assert.equal(of([]), 'CN=ann')
})

test('names that look like several are one', () => {
  const subject = 'C=DE\nO=Example\nCN=ann'
  assert.equal(principalOf({ subject, subjectAltName: undefined }), 'CN=ann,O=Example,C=DE')
  const subjectAltName = 'DNS:"a.test, URI:spiffe://forged", URI:"spiffe://real/\\"x\\""'
  assert.equal(principalOf({ subject, subjectAltName }), 'spiffe://real/"x"')
  assert.equal(
    principalOf({ subject, subjectAltName: 'DNS:"a.test, URI:spiffe://forged"' }),
    'a.test, URI:spiffe://forged',
  )
})
