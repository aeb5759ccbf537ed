import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spendInThreads } from './test-key-spenders.ts'

for (const [threads, keys] of [
  [2, 60],
  [4, 16],
] as const) {
  test(`${threads} threads hand ${keys} slots of a full table over, thousands of times`, async (t) => {
    const { granted, withoutRoom } = await spendInThreads(t, { rounds: 10_000, keys, threads })
    assert.equal(withoutRoom, 0)
    assert.deepEqual(granted, new Set([7]))
  })
}
