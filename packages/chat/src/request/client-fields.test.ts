import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientField, lose } from './client-fields.ts'
import type { Loss } from '../middle.ts'

test('fields are called as the client calls them', () => {
  assert.equal(clientField('completions', 'maxTokens'), 'max_tokens')
  assert.equal(clientField('responses', 'maxTokens'), 'max_output_tokens')
  assert.equal(clientField('messages', 'user'), 'metadata.user_id')
  assert.equal(clientField('responses', 'seed'), 'seed')
})

test('the same loss is said once, and not more of them than anybody reads', () => {
  const losses: Loss[] = []
  for (let round = 0; round < 2; round++) lose(losses, { what: 'dropped', path: 'seed' })
  lose(losses, { what: 'dropped', path: 'seed', note: 'why' })
  assert.equal(losses.length, 2)
  for (let at = 0; at < 100_000; at++) lose(losses, { what: 'dropped', path: `unknown_${at}` })
  assert.equal(losses.length, 50)
})
