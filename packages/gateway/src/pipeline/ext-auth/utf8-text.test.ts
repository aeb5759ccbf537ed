import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'
import { withoutOddBytes } from './utf8-text.ts'

test('each byte that belongs to no character becomes one exclamation mark', () => {
  const cases: [number[], string][] = [
    [[0x61, 0xff, 0xfe, 0x62], 'a!!b'],
    [[0xc3, 0x28], '!('],
    [[0xe2, 0x82], '!!'],
    [[0xe2, 0x82, 0xac], '€'],
    [[0xc0, 0x80], '!!'],
    [[0xed, 0xa0, 0x80], '!!!'],
    [[0xf4, 0x90, 0x80, 0x80], '!!!!'],
    [[0xf0, 0x9f, 0x98, 0x80], '😀'],
  ]
  for (const [bytes, text] of cases) assert.equal(withoutOddBytes(Buffer.from(bytes)), text)
})

test('text stays as it is, and the rest becomes text', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const bytes = Buffer.from(text)
      assert.equal(withoutOddBytes(bytes), bytes.toString())
    }),
  )
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const text = withoutOddBytes(Buffer.from(bytes))
      assert.ok(!text.includes('\ufffd') || isUtf8(bytes) || Buffer.from(bytes).includes('\ufffd'))
    }),
  )
})
