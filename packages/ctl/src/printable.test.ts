import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { printable, printableBlock } from './printable.ts'
import { anyCharacter } from '../../http/src/testing/any-character.ts'

test('control characters are escaped', () => {
  assert.equal(printable('\u001b[31mred\u001b[0m'), '\\u001b[31mred\\u001b[0m')
  assert.equal(printable('\u009b2J \u007f \r\n'), '\\u009b2J \\u007f \\u000d\\u000a')
  assert.equal(printable('user\u202egpj.exe'), 'user\\u202egpj.exe')
  assert.equal(printable('\u2028\ud800'), '\\u2028\\ud800')
  assert.equal(printable('\u{e0041}'), '\\udb40\\udc41')
})

test('ordinary text is unchanged', () => {
  for (const text of ['', 'GET /a?b=c', 'größe', '日本語', '🙂', '"\\"']) assert.equal(printable(text), text)
  assert.equal(printableBlock('a\tb\r\nc\n\u001b'), 'a\tb\nc\n\\u001b')
})

test('no text leaves a control character, and JSON keeps its meaning', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      assert.doesNotMatch(printable(text), /[\p{Cc}\p{Cf}\p{Cs}]/u)
      assert.doesNotMatch(printableBlock(text), /[^\P{Cc}\n\t]/u)
      assert.equal(JSON.parse(printable(JSON.stringify(text))), text)
    }),
  )
})
