import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { readMetadata } from './read-metadata.ts'

const issuer = 'https://idp.example.com/realms/a'
const good = {
  issuer,
  authorization_endpoint: `${issuer}/auth?kind=a`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: 'https://keys.example.com/jwks',
  grant_types_supported: ['urn:ietf:params:oauth:grant-type:device_code'],
  mtls_endpoint_aliases: { token_endpoint: 'https://mtls.example.com/token' },
  unknown: { a: [1, null] },
}
const read = (document: unknown, from = issuer) => readMetadata(JSON.stringify(document), from)

test('metadata passes with everything in it', () => {
  assert.deepEqual(read(good), { document: good })
  assert.ok('document' in read({ ...good, issuer: `${issuer}/` }), 'a slash at the end makes no other issuer')
})

test('URLs are https, on this machine, or of the issuer that the config chose', () => {
  const withToken = (url: unknown, from?: string) => ({ ...good, issuer: from ?? issuer, token_endpoint: url })
  for (const url of ['http://127.0.0.1:9/token', 'http://localhost/token', 'http://[::1]:8080/token']) {
    assert.ok('document' in read(withToken(url)), url)
  }
  const inside = 'http://keycloak.internal:8080/realms/a'
  const own = { issuer: inside, token_endpoint: `${inside}/token` }
  assert.ok('document' in read(own, inside))
  assert.ok('fault' in read({ ...own, token_endpoint: 'http://keycloak.internal:9090/token' }, inside))
})

test('one bad URL spoils the document', () => {
  const urls = [
    'http://idp.example.com/token',
    'http://127.0.0.1.example.com/token',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'a:$(open /Applications/Calculator.app)',
    'https://idp.example.com/`id`',
    'https://idp.example.com/a b',
    'https://idp.example.com/"&calc',
    'https://user:password@idp.example.com/',
    'https://',
    '//idp.example.com/token',
    '',
    7,
    ['https://idp.example.com/'],
    null,
  ]
  for (const url of urls) {
    for (const name of [
      'authorization_endpoint',
      'token_endpoint',
      'jwks_uri',
      'op_policy_uri',
      'check_session_iframe',
    ]) {
      assert.deepEqual(read({ ...good, [name]: url }), {
        fault: `\`${name}\` in the response is not a URL that clients may use`,
      })
    }
    assert.ok('fault' in read({ ...good, mtls_endpoint_aliases: { token_endpoint: url } }))
  }
})

test('only the issuer that was asked may answer, with a JSON object', () => {
  assert.deepEqual(read({ ...good, issuer: 'https://idp.example.com/realms/b' }), {
    fault: 'the response names another issuer',
  })
  assert.deepEqual(read({ ...good, issuer: undefined }), { fault: 'the response names another issuer' })
  for (const text of ['', 'null', '[]', '"a"', '{', '<html>', '1']) {
    assert.deepEqual(readMetadata(text, issuer), { fault: 'the response is not a JSON object' })
  }
})

test('whatever the answer is, it is read or refused', () => {
  fc.assert(fc.property(fc.string(), (text) => 'fault' in readMetadata(text, issuer)))
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'token_endpoint', 'x_uri', '__proto__'), fc.jsonValue()), (more) => {
      const result = readMetadata(JSON.stringify({ ...more, issuer }), issuer)
      if ('document' in result) assert.equal(result.document['issuer'], issuer)
    }),
  )
})
