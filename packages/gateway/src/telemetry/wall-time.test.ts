import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WallTime } from './wall-time.ts'

test('moments have times of day, and a clock that is set anew is followed within a second', () => {
  let day = 1_000_000
  let looks = 0
  const times = new WallTime(() => {
    looks++
    return day
  })
  assert.equal(times.of(40, 50), 999_990)
  day += 900
  assert.equal(times.of(945, 950), 1_000_895)
  assert.equal(looks, 1)
  day = 5_000_000
  assert.equal(times.of(1000, 1050), 4_999_950)
  assert.equal(looks, 2)
})
