import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { apiKeyEntry, parseApiKeys } from './api-keys.ts'
import { Refusal } from '../../kit.ts'
import { validate } from '../../validate.ts'

const sha = `sha256:${'0A'.repeat(32)}`

function read(input: unknown): unknown {
  const result = validate(apiKeyEntry(), input)
  return result.ok ? result.value : result.problems[0]!.found
}

test('a key may be text, JSON text or a mapping, with its metadata', () => {
  assert.deepEqual(read('sk-12345678'), { key: 'sk-12345678', metadata: {} })
  const full = { key: 'sk-12345678', metadata: { group: 'a', limits: [1, 2] } }
  assert.deepEqual(read(full), full)
  assert.deepEqual(read(JSON.stringify(full)), full)
  assert.deepEqual(read({ keyHash: sha }), { keyHash: sha.toLowerCase(), metadata: {} })
})

test('an invalid key is rejected, and not repeated', () => {
  const unfit = 'found a key that is too short or too long, or has spaces in it'
  assert.equal(read('short'), unfit)
  assert.equal(read(''), unfit)
  assert.equal(read('with spaces in it'), unfit)
  assert.equal(read('line\nbreak-in-it'), unfit)
  assert.equal(read({ key: 'short' }), unfit)
  assert.equal(read({ key: 'x'.repeat(2000) }), unfit)
  assert.equal(read({ keyHash: 'md5:abc' }), 'found an invalid `keyHash`')
  assert.equal(read({ key: 'sk-12345678', keyHash: sha }), 'found not exactly one of `key` and `keyHash`')
  assert.equal(read({ metadata: {} }), 'found not exactly one of `key` and `keyHash`')
  assert.equal(read({ key: 'sk-12345678', meta: {} }), 'found an unknown key "meta"')
  assert.match(String(read({ key: 'sk-12345678', metadata: 'a' })), /^found metadata that is not an object/)
  assert.equal(read('{"key": "sk-1'), 'found neither a key nor a JSON object')
  assert.equal(read(12_345_678), 'found neither a key nor a JSON object')
})

test('a file of keys is a JSON object', () => {
  assert.deepEqual(parseApiKeys('{"alice": "sk-12345678", "bob": {"keyHash": "' + sha + '"}}'), {
    alice: { key: 'sk-12345678', metadata: {} },
    bob: { keyHash: sha.toLowerCase(), metadata: {} },
  })
  const detail = (text: string) => {
    const result = parseApiKeys(text)
    return result instanceof Refusal ? result.detail : null
  }
  assert.equal(detail('alice: sk-1'), 'something else than a JSON object')
  assert.equal(detail('[]'), 'something else than a JSON object')
  assert.equal(detail('{}'), '0 keys')
  assert.equal(detail('{"alice":"x"}'), 'a key that is too short or too long, or has spaces in it at "alice"')
})

test('any JSON is read or refused, never repeated', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const result = parseApiKeys(JSON.stringify({ name: value }))
      if (result instanceof Refusal) return
      const { key, keyHash } = result['name']!
      assert.ok((key === undefined) !== (keyHash === undefined))
    }),
    { seed: 5, numRuns: 300 },
  )
})
