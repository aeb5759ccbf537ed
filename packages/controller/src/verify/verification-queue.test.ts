import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VerificationQueue } from './verification-queue.ts'

/** Takes the next policy and runs its tests for a time. */
function run(queue: VerificationQueue, now: number, tookMs: number): string | null {
  const next = queue.next(now)
  if (next === null || 'at' in next) return null
  queue.ran(next.key, now + tookMs, tookMs)
  return next.key
}

describe('the queue of verifications', () => {
  it('lets namespaces take turns, whatever the number of their policies', () => {
    const queue = new VerificationQueue()
    for (const key of ['a/1', 'a/2', 'a/3', 'b/1']) queue.add(key)
    assert.equal(queue.size, 4)
    const order = [run(queue, 1, 10), run(queue, 20, 10), run(queue, 40, 10), run(queue, 60, 10)]
    assert.deepEqual(order, ['a/1', 'b/1', 'a/2', 'a/3'])
    assert.equal(queue.next(80), null)
  })

  it('makes a policy that changes often wait longer, and others not at all', () => {
    const queue = new VerificationQueue()
    const gaps: number[] = []
    let now = 0
    for (let count = 0; count < 5; count++) {
      queue.add('a/1')
      if (count > 0) {
        const next = queue.next(now)
        assert.ok(next !== null && 'at' in next)
        gaps.push(next.at - now)
        now = next.at
      }
      assert.equal(run(queue, now, 1), 'a/1')
      now += 1
    }
    assert.deepEqual(gaps, [1_000, 2_000, 4_000, 8_000])
    queue.add('a/1')
    queue.add('b/1')
    assert.equal(run(queue, now, 1), 'b/1')
  })

  it('makes slow tests wait in proportion to their time, and forgets dropped policies', () => {
    const queue = new VerificationQueue()
    queue.add('a/1')
    run(queue, 0, 10_000)
    queue.add('a/1')
    assert.deepEqual(queue.next(10_000), { at: 50_000 })
    queue.drop('a/1')
    assert.equal(queue.next(100_000), null)
    assert.equal(queue.size, 0)
  })
})
