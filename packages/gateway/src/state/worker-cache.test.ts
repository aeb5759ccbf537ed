import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { WorkerCache } from './worker-cache.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
setFlagsFromString('--no-expose-gc')

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

test('an object that nobody uses stays while it is among the last 64 that were held', async () => {
  const kept = new WorkerCache()
  let made = 0
  const make = () => ({ number: made++ })
  kept.shared('shared', make)
  for (let i = 0; i < 65; i++) kept.held(`key ${i}`, make)
  kept.held('key 1', make)
  await setImmediate()
  collect()
  const known = made
  for (let i = 1; i < 65; i++) assert.ok(kept.shared(`key ${i}`, make).number < known, `key ${i}`)
  assert.equal(kept.shared('key 0', make).number, known, 'the oldest is made anew')
  assert.equal(kept.shared('shared', make).number, known + 1, 'an object that was not held is made anew')
})

test('an object that is in use stays the same, however many others come and go', () => {
  const kept = new WorkerCache()
  const used = kept.shared('used', () => ({ name: 'used' }))
  for (let i = 0; i < 5_000; i++) kept.shared(`key ${i}`, () => ({ name: 'unused' }))
  assert.equal(
    kept.shared('used', () => ({ name: 'other' })),
    used,
  )
})
