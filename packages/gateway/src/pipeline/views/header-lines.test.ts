import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CelError, Double, Duration, Opaque, Optional, type Result, Timestamp, TypeValue, Uint } from '@portico/cel'
import * as fc from 'fast-check'
import { HeaderBlock } from '@portico/http'
import { headerLine, headerLines } from './header-lines.ts'
import { BlockView } from './header-view.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

class Key extends Opaque {
  readonly typeName = 'key'
  toText(): string {
    return '<redacted>'
  }
  equals(): boolean {
    return false
  }
}

const table: [result: Result, lines: string[] | null][] = [
  ['plain', ['plain']],
  ['', ['']],
  [' \t a \t b \t ', ['a \t b']],
  [' \t ', ['']],
  ['grün', ['gr\xc3\xbcn']],
  ['\u00a0a\u00a0', ['\xc2\xa0a\xc2\xa0']],
  [true, ['true']],
  [42, ['42']],
  [-1.5, ['-1.5']],
  [2n ** 62n, ['4611686018427387904']],
  [new Double(2), ['2']],
  [new Uint(7n), ['7']],
  [new Timestamp(0, 0), ['1970-01-01T00:00:00Z']],
  [new Duration(90, 0), ['90s']],
  [new Key(), ['<redacted>']],
  [Uint8Array.of(0x80, 0xff, 0x20), ['\x80\xff']],
  [
    ['a', 1, ' b '],
    ['a', '1', 'b'],
  ],
  [[], []],
  ['a\nb', null],
  ['a\r', null],
  ['\n', null],
  ['a\0', null],
  ['\x7f', null],
  ['\x1b[0m', null],
  [Uint8Array.of(10), null],
  [['a', 'b\r\nx: 1'], null],
  [[['a']], null],
  [['a', null], null],
  [null, null],
  [{ a: 1 }, null],
  [new Map([['a', 1]]), null],
  [new Optional('a'), null],
  [new TypeValue('int'), null],
  [new CelError('failed', 'no'), null],
  ['x'.repeat(16_384), ['x'.repeat(16_384)]],
  ['x'.repeat(16_385), null],
  ['ü'.repeat(8_193), null],
]

test('results become header lines, or null if a header cannot contain them', () => {
  for (const [result, lines] of table) assert.deepEqual(headerLines(result), lines, JSON.stringify(lines))
})

test('a list is no single line', () => assert.equal(headerLine(['a']), null))

test('no result whatever gives a line that breaks a head, and a text comes back as it went', () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 20 })
  const odd = fc.string({
    unit: fc.constantFrom('\r', '\n', '\0', ' ', 'a', '\u010a', '\u{1f40a}', '\ud800'),
    maxLength: 8,
  })
  const bytes = fc.uint8Array({ maxLength: 20 })
  const value = fc.oneof(text, odd, bytes, fc.array(fc.oneof(text, odd, bytes), { maxLength: 3 }))
  fc.assert(
    fc.property(value, (result) => {
      const lines = headerLines(result)
      if (lines === null) return
      const block = HeaderBlock.of(lines.map((line) => ['x', line] as const))
      assert.equal(block.toText().split('\r\n').length, lines.length + 1)
      if (typeof result !== 'string') return
      assert.equal(new BlockView(block).get('x'), result.toWellFormed().replace(/^[ \t]+|[ \t]+$/g, ''))
    }),
    { seed: 3, numRuns: 5000 },
  )
})

test('expressions see UTF-8 as text and other bytes as latin1; one line is a text, several are a list', () => {
  const view = new BlockView(
    HeaderBlock.of([
      ['X-Utf8', 'gr\xc3\xbcn'],
      ['x-latin1', 'gr\xfcn'],
      ['x-cut', '\xc3'],
      ['x-bom', '\xef\xbb\xbfa'],
      ['x-many', 'a'],
      ['X-Many', 'gr\xc3\xbcn'],
      ['x-MANY', 'c'],
    ]),
  )
  assert.equal(view.get('x-utf8'), 'grün')
  assert.equal(view.get('x-latin1'), 'gr\xfcn')
  assert.equal(view.get('x-cut'), '\xc3')
  assert.equal(view.get('x-bom'), '\ufeffa')
  assert.deepEqual(view.get('x-many'), ['a', 'grün', 'c'])
  assert.equal(view.get('missing'), undefined)
  assert.deepEqual([...view.keys()], ['x-utf8', 'x-latin1', 'x-cut', 'x-bom', 'x-many'])
})
