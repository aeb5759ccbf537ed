import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Id } from './id.ts'
import { WireBuffer } from './wire-buffer.ts'

test('ids have the digits that random numbers give, and are never all zero', () => {
  const random = (...numbers: number[]) => {
    return () => numbers.shift() ?? 0
  }
  assert.equal(Id.ofSpan(random(0.5, 1 / 16)).hex, '8000000010000000')
  assert.equal(Id.ofTrace(random(0, 0, 0, 1 - 2 ** -32)).hex, `${'0'.repeat(24)}ffffffff`)
  assert.equal(Id.ofSpan(random()).hex, '0000000100000000')
  assert.equal(Id.ofTrace(random()).hex, `00000001${'0'.repeat(24)}`)
})

test('the words of an id are its digits', () => {
  const hex = fc.oneof(fc.stringMatching(/^[0-9a-f]{16}$/), fc.stringMatching(/^[0-9a-f]{32}$/))
  fc.assert(
    fc.property(hex, (digits) => {
      const id = Id.of(digits)
      const [words, text] = [new WireBuffer(), new WireBuffer()]
      for (const word of id.words) words.word(word)
      text.hex(digits)
      assert.deepEqual([id.hex, words.take().toString('hex'), text.take().toString('hex')], [digits, digits, digits])
    }),
  )
})
