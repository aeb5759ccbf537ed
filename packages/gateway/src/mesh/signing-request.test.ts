import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createPrivateKey } from 'node:crypto'
import { test } from 'node:test'
import { createSigningRequest } from './signing-request.ts'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

test('OpenSSL reads the request, with its URI and its key', { skip: !hasOpenssl && 'openssl is not installed' }, () => {
  const uri = 'spiffe://cluster.local/ns/default/sa/edge'
  const { key, csr } = createSigningRequest(uri)
  const { status, stdout, stderr } = spawnSync('openssl', ['req', '-verify', '-noout', '-text'], {
    input: csr,
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  assert.match(stderr + stdout, /self-signature verify OK/i)
  assert.match(
    stdout,
    /X509v3 Subject Alternative Name: critical\s+URI:spiffe:\/\/cluster\.local\/ns\/default\/sa\/edge/,
  )
  assert.match(stdout, /ecdsa-with-SHA256/)
  assert.equal(createPrivateKey(key).asymmetricKeyDetails?.namedCurve, 'prime256v1')
})

test('every request has a key of its own', () => {
  const [one, other] = [createSigningRequest('spiffe://a/ns/b/sa/c'), createSigningRequest('spiffe://a/ns/b/sa/c')]
  assert.notEqual(one.key, other.key)
})
