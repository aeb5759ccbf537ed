import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { readPosition, writePosition } from './event-ids.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

const printable = fc.string({ minLength: 1, maxLength: 30 })
const ids = fc.uniqueArray(fc.tuple(printable, printable), { selector: ([name]) => name, minLength: 1, maxLength: 5 })

test('a position is read as it was written, and is a value of a header', () => {
  fc.assert(
    fc.property(fc.constantFrom('call' as const, 'session' as const), ids, (of, entries) => {
      const text = writePosition({ of, ids: new Map(entries) })
      assert.match(text, /^[cs][\w-]+$/)
      assert.deepEqual(readPosition(text), { of, ids: new Map(entries) })
    }),
  )
})

test('a text from elsewhere is not a position, and never throws', () => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => void readPosition(text)))
  const written = (value: unknown) => `s${Buffer.from(JSON.stringify(value)).toString('base64url')}`
  for (const value of [
    null,
    1,
    {},
    [1],
    [['a']],
    [['a', 1]],
    [['a', 'x\ny']],
    [['a', '']],
    [['a', 'x'.repeat(5000)]],
  ]) {
    assert.equal(readPosition(written(value)), null, JSON.stringify(value))
  }
  assert.equal(readPosition(`s${'A'.repeat(100_000)}`), null)
})

test('a position that no header would carry is none', () => {
  assert.equal(writePosition({ of: 'session', ids: new Map([['a', 'x'.repeat(5000)]]) }), '')
})
