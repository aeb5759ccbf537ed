import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { rowWindow } from './row-window.ts'

test('rows in sight are drawn, and no more than a few others', () => {
  fc.assert(
    fc.property(fc.nat(400_000), fc.nat(4000), fc.nat(10_000), (scrollTop, height, count) => {
      const { from, to } = rowWindow(scrollTop, height, 28, count)
      assert.ok(from >= 0 && from <= to && to <= count)
      assert.ok(to - from <= height / 28 + 18)
      const firstSeen = Math.floor(scrollTop / 28)
      const lastSeen = Math.min(count, Math.ceil((scrollTop + height) / 28))
      if (firstSeen < count) assert.ok(from <= firstSeen && to >= lastSeen)
    }),
  )
})
