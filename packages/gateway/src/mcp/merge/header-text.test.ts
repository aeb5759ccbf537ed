import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { decodeHeaderText, encodeHeaderText } from './header-text.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

test('a text that was encoded for a header is printable ASCII, and decodes to itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      if (!text.isWellFormed()) return
      const encoded = encodeHeaderText(text)
      assert.match(encoded, /^[\x20-\x7e]*$/)
      assert.equal(encoded.trim(), encoded)
      assert.equal(decodeHeaderText(encoded), text)
    }),
  )
})

test('plain names stay as they are; what looks encoded is encoded', () => {
  assert.equal(encodeHeaderText('echo'), 'echo')
  assert.equal(encodeHeaderText(' echo'), '=?base64?IGVjaG8=?=')
  assert.equal(decodeHeaderText(encodeHeaderText('=?base64?eA==?=')), '=?base64?eA==?=')
})

test('bytes of UTF-8 that stand there as they are are read', () => {
  for (const text of ['café', '工具', '🔧 tool']) {
    assert.equal(decodeHeaderText(Buffer.from(text, 'utf8').toString('latin1')), text)
  }
})

test('an invalid encoding is not decoded', () => {
  for (const text of ['caf\u00e9', '=?base64?/w==?=', 'a\u0000b']) assert.equal(decodeHeaderText(text), null, text)
})
