import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readJwkSet } from '../formats/jwk-set.ts'
import { createSigningKey, keySetOf } from '../testing/services/issuer.ts'
import { KeySet } from './key-set.ts'

function read(text: string) {
  const set = readJwkSet(text)
  assert.ok('keys' in set)
  return set.keys
}

/** A point that is not on the curve. */
const unusable = { kid: 'bad', algorithms: ['ES256'], members: { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' } }

describe('a set of keys', () => {
  const [a] = read(keySetOf(createSigningKey('a')))
  const [b] = read(keySetOf(createSigningKey('b')))
  assert.ok(a !== undefined && b !== undefined)

  test('leaves out keys that the runtime cannot use', () => {
    assert.equal(KeySet.of([unusable]), null)
    assert.equal(KeySet.of([]), null)
    const set = KeySet.of([unusable, a])
    assert.deepEqual(set?.find('bad'), [])
    assert.equal(set?.find('a').length, 1)
    // One key is left, so a token without a key id means that key.
    assert.deepEqual(set?.find(null), set?.find('a'))
  })

  test('finds all keys of a name, and the only key for tokens without one', () => {
    const twice = KeySet.of([a, { ...b, kid: 'a' }])
    assert.equal(twice?.find('a').length, 2)
    assert.deepEqual(twice?.find('b'), [])
    assert.deepEqual(twice?.find(null), [])
    const nameless = KeySet.of([{ ...a, kid: null }])
    assert.equal(nameless?.find('whatever').length, 1)
    assert.equal(nameless?.find(null).length, 1)
    const mixed = KeySet.of([{ ...a, kid: null }, b])
    assert.deepEqual([mixed?.find('b').length, mixed?.find('a').length, mixed?.find(null).length], [1, 0, 0])
  })
})
