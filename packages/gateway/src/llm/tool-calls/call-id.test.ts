import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { callIdWithSignature, splitCallId } from './call-id.ts'

test('an id without a signature is itself', () => {
  assert.deepEqual(splitCallId('call_1'), { id: 'call_1' })
})

test('a signature that is no base64 is left out', () => {
  assert.equal(callIdWithSignature('call_1', 'not base64!'), 'call_1')
})

test('id and signature come back, and only letters that vendors take in ids are used', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^call_[A-Za-z0-9]+$/), fc.uint8Array({ minLength: 1 }), (id, bytes) => {
      const signature = Buffer.from(bytes).toString('base64')
      const joined = callIdWithSignature(id, signature)
      assert.match(joined, /^[A-Za-z0-9_-]+$/)
      assert.deepEqual(splitCallId(joined), { id, signature })
    }),
  )
})

test('any text is taken apart without throwing', () => {
  fc.assert(fc.property(fc.string(), (text) => typeof splitCallId(text).id === 'string'))
})
