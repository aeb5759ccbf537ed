import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { objectAt, textAt } from '@portico/http/json'
import type { JsonObject } from '../middle.ts'
import { decodeBedrockCountTokens, encodeBedrockCountTokens } from './bedrock.ts'

function wrapped(body: JsonObject): JsonObject {
  const invoked = objectAt(objectAt(encodeBedrockCountTokens(body), 'input'), 'invokeModel')
  return JSON.parse(Buffer.from(textAt(invoked, 'body') ?? '', 'base64').toString('utf8')) as JsonObject
}

test('Bedrock counts what it would be invoked with', () => {
  const messages = [{ role: 'user', content: 'Grüezi 🏔️' }]
  assert.deepEqual(wrapped({ model: 'claude', stream: true, system: 'S', messages }), {
    anthropic_version: 'bedrock-2023-05-31',
    max_tokens: 1,
    system: 'S',
    messages,
  })
  const given = { anthropic_version: 'x', max_tokens: 9, messages }
  assert.deepEqual(wrapped(given), given)
})

test('the count is said as clients of Messages read it', () => {
  assert.deepEqual(decodeBedrockCountTokens({ inputTokens: 12 }), { input_tokens: 12 })
  assert.equal(decodeBedrockCountTokens({ message: 'no' }), null)
  assert.equal(decodeBedrockCountTokens({ inputTokens: '12' }), null)
})

test('any body comes through', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const extra: JsonObject[string] = JSON.parse(text)
      assert.deepEqual(wrapped({ messages: [], extra }).extra, extra)
    }),
  )
})
