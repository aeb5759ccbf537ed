import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WorkerCache } from './worker-cache.ts'

test('the same key gives the same object, another key another', () => {
  const kept = new WorkerCache()
  const a = kept.shared('a', () => ({ name: 'a' }))
  assert.equal(
    kept.shared('a', () => ({ name: 'other' })),
    a,
  )
  assert.equal(
    kept.held('a', () => ({ name: 'other' })),
    a,
  )
  assert.notEqual(
    kept.shared('b', () => ({ name: 'a' })),
    a,
  )
})

test('the most recent of many keys stay in the cache', () => {
  const kept = new WorkerCache()
  let made = 0
  const take = (key: string) => kept.held(key, () => ({ number: made++ }))
  for (let i = 0; i < 3_000; i++) take(`key ${i}`)
  assert.equal(made, 3_000)
  for (let i = 2_940; i < 3_000; i++) assert.equal(take(`key ${i}`).number, i)
})
