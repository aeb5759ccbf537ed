import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe, it } from 'node:test'
import { callIdWithSignature, clientCallId, fromClientCallId, splitCallId, fitCallId } from './call-ids.ts'
import { anyCharacter } from '../../../http/src/testing/any-character.ts'

it("an id brings Google's signature to the client and back", () => {
  const signed = { id: 'call_1', signature: 'google:AbC+/w==' }
  const id = clientCallId(signed)
  assert.match(id, /^[A-Za-z0-9_-]+$/)
  assert.deepEqual(fromClientCallId(id), signed)
  assert.equal(clientCallId({ id, signature: signed.signature }), id)
})

it('other ids and signatures of others are left alone', () => {
  assert.equal(clientCallId({ id: 'call_1' }), 'call_1')
  assert.equal(clientCallId({ id: 'call_1', signature: 'anthropic:x' }), 'call_1')
  assert.deepEqual(fromClientCallId('call_1'), { id: 'call_1' })
})

it('an id without a signature is itself', () => {
  assert.deepEqual(splitCallId('call_1'), { id: 'call_1' })
})

it('a signature that is no base64 is left out', () => {
  assert.equal(callIdWithSignature('call_1', 'not base64!'), 'call_1')
})

it('id and signature come back, and only letters that vendors take in ids are used', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^call_[A-Za-z0-9]+$/), fc.uint8Array({ minLength: 1 }), (id, bytes) => {
      const signature = Buffer.from(bytes).toString('base64')
      const joined = callIdWithSignature(id, signature)
      assert.match(joined, /^[A-Za-z0-9_-]+$/)
      assert.deepEqual(splitCallId(joined), { id, signature })
    }),
  )
})

it('any text is taken apart without throwing', () => {
  fc.assert(fc.property(fc.string(), (text) => typeof splitCallId(text).id === 'string'))
})

describe('the id of a call', () => {
  it('is kept when it fits', () => {
    for (const id of ['call_abc123', 'toolu_01A09q90qw90lq917835lq9', 'a'.repeat(40)])
      assert.equal(fitCallId(id, 40), id)
  })

  it('always fits, is always the same, and tells calls apart', () => {
    const ids = fc.uniqueArray(fc.string({ unit: anyCharacter, maxLength: 80 }), { minLength: 2, maxLength: 2 })
    fc.assert(
      fc.property(ids, ([one, other]) => {
        const fitted = fitCallId(one!, 40)
        assert.match(fitted, /^[A-Za-z0-9_-]{1,40}$/)
        assert.equal(fitCallId(one!, 40), fitted)
        assert.notEqual(fitCallId(other!, 40), fitted)
      }),
    )
  })
})
