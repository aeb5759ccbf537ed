import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameGuard } from '../../http2/frame-guard.ts'
import { ReceiveWindow } from '../../http2/receive-window.ts'

test('two thousand idle frames in ten seconds are accepted, one more is not', () => {
  const guard = new FrameGuard()
  for (let i = 0; i < 2_000; i++) assert.equal(guard.idle(20_000), false)
  assert.equal(guard.idle(20_000), true)
  assert.equal(guard.idle(30_001), false)
})

test('a client may send five more idle frames for each useful frame', () => {
  const guard = new FrameGuard()
  guard.idle(20_000)
  guard.useful(10)
  for (let i = 1; i < 2_050; i++) assert.equal(guard.idle(20_000), false)
  assert.equal(guard.idle(20_000), true)
})

test('a window is given back in halves, and holds', () => {
  const window = new ReceiveWindow(100_000)
  assert.equal(window.take(100_000), true)
  assert.equal(window.release(49_999), 0)
  assert.equal(window.release(1), 50_000)
  assert.equal(window.take(50_000), true)
  assert.equal(window.take(1), false)
})

test('a client that does not know a small window yet may use the default window', () => {
  const window = new ReceiveWindow(10)
  assert.equal(window.take(65_535), true)
  assert.equal(window.release(4), 0)
  assert.equal(window.release(1), 5)
})
