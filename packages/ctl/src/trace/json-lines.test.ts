import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { compactJson, jsonLines } from './json-lines.ts'

test('lines match indented JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      assert.deepEqual(jsonLines(value), JSON.stringify(value, null, 2).split('\n'))
    }),
  )
})

test('deep nesting exhausts neither the stack nor memory', () => {
  const depth = 100_000
  const lines = jsonLines(JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`))
  assert.ok(lines.length < 100)
  assert.ok(lines.join('').length < 10 * depth)
  assert.equal(typeof compactJson(JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)), 'string')
})
