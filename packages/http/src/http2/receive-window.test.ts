import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ReceiveWindow } from './receive-window.ts'

describe('the window of a stream', () => {
  it('grows once the data of several windows was taken', () => {
    const window = new ReceiveWindow(100_000, 400_000)
    const granted: number[] = []
    for (let i = 0; i < 8; i++) {
      assert.ok(window.take(50_000))
      granted.push(window.release(50_000))
    }
    // Then half of the larger window is worth a frame.
    assert.deepEqual(granted, [50_000, 50_000, 50_000, 350_000, 0, 0, 0, 200_000])
  })

  it('allows no more than its largest size to wait', () => {
    const window = new ReceiveWindow(100_000, 400_000)
    for (let i = 0; i < 4; i++) {
      assert.ok(window.take(50_000))
      window.release(50_000)
    }
    assert.ok(window.take(400_000))
    assert.equal(window.take(1), false)
  })

  it('stays as it is while nothing is taken, and where it has one size', () => {
    const waiting = new ReceiveWindow(100_000, 400_000)
    assert.ok(waiting.take(100_000))
    assert.equal(waiting.take(1), false)
    const fixed = new ReceiveWindow(100_000)
    for (let i = 0; i < 20; i++) {
      assert.ok(fixed.take(50_000))
      assert.equal(fixed.release(50_000), 50_000)
    }
  })
})
