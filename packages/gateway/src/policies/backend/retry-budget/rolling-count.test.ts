import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { addTo, rollingCount } from './rolling-count.ts'

const INTERVAL = 1_000

function words(): BigInt64Array<SharedArrayBuffer> {
  return new BigInt64Array(new SharedArrayBuffer(6 * 8))
}

test('an unused count is zero at any time', () => {
  for (const now of [0, 1, 999, 1_000, 123_456_789.5]) assert.equal(rollingCount(words(), 0, now, INTERVAL), 0)
})

test('events leave the count linearly over the interval after their window', () => {
  const cells = words()
  for (let event = 0; event < 100; event++) addTo(cells, 0, 5_000, INTERVAL)
  const at = (now: number): number => Math.round(rollingCount(cells, 0, now, INTERVAL))
  assert.deepEqual([5_999, 6_000, 6_250, 6_750, 7_000].map(at), [100, 100, 75, 25, 0])
})

test('an event whose time is slightly old does not reset a newer window', () => {
  const cells = words()
  addTo(cells, 0, 4_000, INTERVAL)
  addTo(cells, 0, 2_999, INTERVAL)
  assert.equal(rollingCount(cells, 0, 4_000, INTERVAL), 1)
})

test('the count lies between the events of the current window and those of two windows', () => {
  const events = fc.array(fc.tuple(fc.integer({ min: 0, max: 900 }), fc.boolean()), { maxLength: 60 })
  fc.assert(
    fc.property(events, (steps) => {
      const cells = words()
      const counted: number[] = []
      let now = 10_000
      for (const [passed, isCounted] of steps) {
        now += passed
        if (isCounted) {
          addTo(cells, 2, now, INTERVAL)
          counted.push(Math.floor(now / INTERVAL))
        }
        const window = Math.floor(now / INTERVAL)
        const current = counted.filter((each) => each === window).length
        const before = counted.filter((each) => each === window - 1).length
        const found = rollingCount(cells, 2, now, INTERVAL)
        assert.ok(found >= current && found <= current + before, `${found} of ${current} and ${before}`)
        assert.equal(rollingCount(cells, 0, now, INTERVAL), 0, 'another count of the same words')
      }
    }),
  )
})
