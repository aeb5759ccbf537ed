import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ResetGuard } from './reset-guard.ts'

test('two hundred resets in ten seconds are accepted, one more is not', () => {
  const guard = new ResetGuard()
  for (let i = 0; i < 200; i++) assert.equal(guard.reset(20_000 + i), false)
  assert.equal(guard.reset(20_201), true)
})

test('a client that completes as many streams as it resets may go on', () => {
  const guard = new ResetGuard()
  guard.reset(20_000)
  guard.completed()
  for (let i = 0; i < 500; i++) {
    guard.completed()
    assert.equal(guard.reset(20_000 + i), false)
  }
})

test('resets of an earlier window do not count', () => {
  const guard = new ResetGuard()
  for (let i = 0; i < 200; i++) guard.reset(20_000)
  assert.equal(guard.reset(30_001), false)
})
