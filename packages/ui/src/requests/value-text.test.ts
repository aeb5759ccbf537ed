import assert from 'node:assert/strict'
import { test } from 'node:test'
import { valueText } from './value-text.ts'

test('rules are told in words, other values as they are', () => {
  const rules = [
    { name: 'request.method == "GET"', mode: 'deny', matched: true },
    { name: 'jwt.sub == "ann"', mode: 'allow', matched: false, error: 'no such key' },
  ]
  assert.equal(
    valueText(rules),
    'deny rule request.method == "GET" is true; allow rule jwt.sub == "ann" failed: no such key',
  )
  assert.equal(valueText(['a', 'b']), 'a; b')
  assert.equal(valueText([]), 'none')
  assert.equal(valueText({ a: 1 }), '{"a":1}')
  assert.equal(valueText('text'), 'text')
})
