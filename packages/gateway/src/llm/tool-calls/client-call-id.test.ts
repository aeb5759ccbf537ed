import assert from 'node:assert/strict'
import { it } from 'node:test'
import { clientCallId, fromClientCallId } from './client-call-id.ts'

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
