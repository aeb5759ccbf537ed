import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type JwkSet, readJwkSet } from './jwk-set.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' })
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' })
const ed25519 = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })

function read(...keys: unknown[]): JwkSet {
  return readJwkSet(JSON.stringify({ keys }))
}

function algorithms(...keys: unknown[]): (readonly string[])[] {
  const set = read(...keys)
  return 'keys' in set ? set.keys.map((key) => key.algorithms) : []
}

test('the key decides which algorithms it may be used with', () => {
  assert.deepEqual(algorithms(rsa), [['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']])
  assert.deepEqual(algorithms({ ...rsa, alg: 'PS256' }), [['PS256']])
  assert.deepEqual(algorithms(ec('P-256'), ec('P-384'), ec('P-521')), [['ES256'], ['ES384'], ['ES512']])
  assert.deepEqual(algorithms(ed25519), [['EdDSA', 'Ed25519']])
})

test('keys that cannot verify signatures are left out', () => {
  const useless: unknown[] = [
    { kty: 'oct', k: 'c2VjcmV0', alg: 'HS256' },
    { ...rsa, alg: 'HS256' },
    { ...rsa, alg: 'RSA-OAEP' },
    { ...rsa, alg: 'ES256' },
    { ...rsa, alg: 'none' },
    { ...rsa, use: 'enc' },
    { ...rsa, key_ops: ['encrypt'] },
    { ...rsa, kid: 5 },
    { ...rsa, kid: 'k'.repeat(2000) },
    { ...rsa, n: 'AQAB' },
    { ...rsa, n: '!!' },
    { ...rsa, kty: ['RSA'] },
    { ...ec('secp256k1'), kid: 'bitcoin' },
    { ...ec('P-256'), crv: '__proto__' },
    { ...ec('P-256'), y: undefined },
    { ...ed25519, crv: 'X25519' },
    null,
    'key',
    [],
  ]
  for (const key of useless) {
    assert.deepEqual(read(key), { fault: 'no key that can verify signatures' }, JSON.stringify(key))
  }
  const mixed = read(...useless, { ...rsa, kid: 'good', use: 'sig', key_ops: ['verify'] })
  assert.deepEqual('keys' in mixed && mixed.keys.map((key) => key.kid), ['good'])
})

test('private members of a key are not taken over', () => {
  const secret = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })
  const set = read(secret)
  assert.ok('keys' in set)
  assert.deepEqual(Object.keys(set.keys[0]!.members).sort(), ['e', 'kty', 'n'])
})

test('text that is no key set is refused', () => {
  assert.deepEqual(readJwkSet('{"keys":'), { fault: 'text that is not JSON' })
  assert.deepEqual(readJwkSet('['.repeat(100_000)), { fault: 'text that is not JSON' })
  assert.deepEqual(readJwkSet('[]'), { fault: 'no list `keys`' })
  assert.deepEqual(readJwkSet('{"keys":{}}'), { fault: 'no list `keys`' })
  assert.deepEqual(readJwkSet('{"__proto__":{"keys":[]}}'), { fault: 'no list `keys`' })
  assert.deepEqual(readJwkSet('{"keys":[]}'), { fault: 'no key that can verify signatures' })
  assert.deepEqual(read(...Array.from({ length: 257 }, () => rsa)), { fault: 'more than 256 keys' })
})

test('hostile JSON never throws, and never gives a symmetric algorithm', () => {
  const member = fc.oneof(
    fc.string(),
    fc.constantFrom('RSA', 'EC', 'oct', 'OKP', 'P-256', 'HS256', 'none', 'sig'),
    fc.json(),
  )
  const key = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom('kty', 'kid', 'alg', 'use', 'crv', 'n', 'e', 'x', 'y', 'k', 'key_ops'), member),
    fc
      .dictionary(fc.constantFrom('kid', 'alg', 'use', 'crv', 'n', 'key_ops'), member)
      .map((more) => ({ ...rsa, ...more })),
  )
  fc.assert(
    fc.property(fc.array(key), (keys) => {
      const set = read(...keys)
      for (const { algorithms, members } of 'keys' in set ? set.keys : []) {
        assert.ok(algorithms.every((name) => /^((RS|PS|ES)(256|384|512)|EdDSA|Ed25519)$/.test(name)))
        assert.ok(['RSA', 'EC', 'OKP'].includes(members.kty))
      }
    }),
    { seed: 7, numRuns: 500 },
  )
})
