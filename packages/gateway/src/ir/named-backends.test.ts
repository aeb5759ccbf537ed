import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backendsNamedIn } from './named-backends.ts'

test('backends are found by their keys, anywhere in a resource', () => {
  const resource = {
    deep: [{ name: 'backend/idp', again: 'backend/idp' }, 'host/unix:/a "b"', 'url/https://a', 'my backend/other'],
    none: [null, 1, true],
  }
  assert.deepEqual(backendsNamedIn(resource), ['backend/idp', 'host/unix:/a "b"', 'url/https://a'])
  assert.deepEqual(backendsNamedIn({}), [])
})
