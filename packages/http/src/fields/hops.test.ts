import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hops, MAX_HOPS, MAX_PASSES } from './hops.ts'

const hops = new Hops('me')

test('a request leaves with this gateway behind those that it passed', () => {
  assert.deepEqual(hops.leaving(''), { before: '', value: 'me', line: 'x-portico-hops: me\r\n' })
  assert.deepEqual(hops.leaving('a, b'), { before: 'a, b', value: 'a, b, me', line: 'x-portico-hops: a, b, me\r\n' })
})

test('a request may pass a gateway a few times, and not more', () => {
  const passed = (times: number) => Array.from({ length: times }, () => 'me').join(', ')
  assert.equal(hops.loopIn(''), null)
  assert.equal(hops.loopIn(passed(MAX_PASSES)), null)
  assert.deepEqual(hops.loopIn(passed(MAX_PASSES + 1)), { passes: MAX_PASSES + 1, hops: MAX_PASSES + 1 })
  assert.equal(hops.loopIn(`${passed(MAX_PASSES)},me2, m e`), null, 'names are compared whole')
})

test('a request may pass many gateways, and not more than that', () => {
  const others = (times: number) => Array.from({ length: times }, (_, index) => `g${index}`).join(',')
  assert.equal(hops.loopIn(others(MAX_HOPS)), null)
  assert.deepEqual(hops.loopIn(others(MAX_HOPS + 1)), { passes: 0, hops: MAX_HOPS + 1 })
  assert.deepEqual(hops.loopIn('x'.repeat(1025)), { passes: 0, hops: MAX_HOPS + 1 })
  assert.equal(hops.loopIn('x'.repeat(1024)), null)
})
