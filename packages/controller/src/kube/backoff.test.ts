import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Backoff } from './backoff.ts'

test('waits double up to the maximum, with jitter, and can be reset', () => {
  const backoff = new Backoff({ firstMs: 100, mostMs: 350, random: () => 1 })
  assert.deepEqual([backoff.next(), backoff.next(), backoff.next(), backoff.next()], [100, 200, 350, 350])
  backoff.reset()
  assert.equal(backoff.next(), 100)
  assert.equal(new Backoff({ firstMs: 100, random: () => 0 }).next(), 50)
})
