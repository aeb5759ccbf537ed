import assert from 'node:assert/strict'
import { test } from 'node:test'
import { later, loadablesIn } from './later.ts'

test('code for later is loaded once, and cannot be called before', async () => {
  let loads = 0
  const double = later(async () => {
    loads++
    return (value: number) => value * 2
  })
  assert.throws(() => double(2), /not awaited/)
  await double.load()
  await double.load()
  assert.deepEqual([double(2), loads], [4, 1])
  const parts = loadablesIn({ double, plain: (value: number) => value })
  assert.deepEqual(
    parts.map(([name]) => name),
    ['double'],
  )
})
