import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { readNameValues } from './name-values.ts'

test('pairs are read, and their texts decoded', () => {
  assert.deepEqual({ ...readNameValues('') }, {})
  assert.deepEqual({ ...readNameValues(' a=1, team = a%2Cb%20c ,x=,') }, { a: '1', team: 'a,b c', x: '' })
  assert.deepEqual({ ...readNameValues('a=1;b') }, { a: '1;b' })
  assert.deepEqual({ ...readNameValues('a=Basic Zm9v==') }, { a: 'Basic Zm9v==' })
})

test('a text that is not a list of pairs is rejected', () => {
  for (const text of ['a', 'a=1,b', '=1', 'a=%zz', '%zz=1']) assert.equal(readNameValues(text), null, text)
})

test('every name and value can be encoded', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1 })
  const name = text.filter((word) => word.trim() === word)
  fc.assert(
    fc.property(fc.array(fc.tuple(name, name)), (pairs) => {
      const written = pairs.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join(',')
      const read = readNameValues(written)
      assert.ok(read)
      assert.deepEqual(new Map(Object.entries(read)), new Map(pairs))
    }),
  )
})
