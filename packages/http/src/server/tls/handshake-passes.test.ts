import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HandshakePasses } from './handshake-passes.ts'
import { MAX_PASSES } from '../../fields/hops.ts'

test('a handshake may pass a few times at once, and is in a loop beyond that', () => {
  const passes = new HandshakePasses()
  for (let pass = 0; pass <= MAX_PASSES; pass++) assert.equal(passes.enter('a'), true, `pass ${pass}`)
  assert.equal(passes.enter('a'), false)
  assert.equal(passes.enter('b'), true, 'others are counted apart')
  passes.leave('a')
  assert.equal(passes.enter('a'), true, 'one has left')
  assert.equal(passes.enter('a'), false)
})

test('a handshake whose passes have all left is forgotten', () => {
  const passes = new HandshakePasses()
  passes.enter('a')
  passes.enter('a')
  passes.leave('a')
  passes.leave('a')
  passes.leave('a')
  for (let pass = 0; pass <= MAX_PASSES; pass++) assert.equal(passes.enter('a'), true, `pass ${pass}`)
  assert.equal(passes.enter('a'), false)
})
