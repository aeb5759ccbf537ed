import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Json } from '@portico/chat'
import { anyCharacter } from '../../../../../http/src/testing/any-character.ts'
import type { TextInfo } from '../guard.ts'
import type { OffsetUnit } from './check.ts'
import { applyMasks, readMasks } from './masks.ts'
import { toUtf16 } from './offsets.ts'
import { packsOf } from './packs.ts'

const user: TextInfo = { role: 'user', form: 'text' }
const call: TextInfo = { role: 'assistant', form: 'json' }

function masked(
  texts: string[],
  result: Json,
  { unit = 'Characters', about = texts.map(() => user) }: { unit?: OffsetUnit; about?: TextInfo[] } = {},
) {
  const [pack = []] = packsOf(texts, { maxTexts: 100, maxCharacters: 10_000 })
  const spans = readMasks(result, pack, unit, about)
  return spans === null ? null : applyMasks(texts, spans, about)
}

test('offsets count characters, so that an emoji before a name moves no mask', () => {
  const text = 'hi 👩‍👩‍👧 Ann 😀 Bo'
  const points = Array.from(text)
  const at = (name: string) => Array.from(text.slice(0, text.indexOf(name))).length
  assert.equal(points.slice(at('Ann'), at('Ann') + 3).join(''), 'Ann')
  const result = ['Ann', 'Bo'].map((name) => ({ start: at(name), end: at(name) + name.length, mask: '<PERSON>' }))
  assert.deepEqual(masked([text], result), ['hi 👩‍👩‍👧 <PERSON> 😀 <PERSON>'])
})

test('offsets of each unit are those of the same characters', () => {
  const lengths: Record<OffsetUnit, (text: string) => number> = {
    Characters: (text) => Array.from(text).length,
    Utf16: (text) => text.length,
    Bytes: (text) => Buffer.byteLength(text),
  }
  const texts = fc.array(fc.string({ unit: anyCharacter, maxLength: 6 }).map((text) => text.toWellFormed()))
  fc.assert(
    fc.property(texts, fc.constantFrom<OffsetUnit>('Characters', 'Utf16', 'Bytes'), (parts, unit) => {
      const whole = parts.join('')
      const before = parts.map((_, index) => parts.slice(0, index).join(''))
      const offsets = before.map(lengths[unit])
      const converted = toUtf16(whole, unit, offsets)
      assert.deepEqual(
        offsets.map((offset) => converted.get(offset)),
        before.map((text) => text.length),
      )
      assert.equal(converted.get(lengths[unit](whole) + 1), undefined)
    }),
  )
})

test('an offset within a character is no offset', () => {
  assert.equal(toUtf16('a😀', 'Utf16', [2]).get(2), undefined)
  assert.equal(toUtf16('é', 'Bytes', [1]).get(1), undefined)
})

test('spans that overlap become one, with the mask of the longest', () => {
  const spans = [
    { start: 4, end: 8, mask: '<B>' },
    { start: 0, end: 3, mask: '<A>' },
    { start: 6, end: 14, mask: '<C>' },
    { start: 6, end: 6, mask: '<empty>' },
  ]
  assert.deepEqual(masked(['abc defghijklm no'], spans), ['<A> <C> no'])
})

test('spans of the joined text are divided among the texts', () => {
  const result = [{ start: 2, end: 5 }]
  assert.deepEqual(masked(['abc', ' ', 'def'], result), ['ab<masked>', ' ', '<masked>ef'])
})

test('spans of one text, and new texts, stay in that text', () => {
  assert.deepEqual(masked(['abc', 'def'], [{ index: 1, start: 0, end: 1, mask: '*' }]), ['abc', '*ef'])
  assert.deepEqual(masked(['abc', '', 'd e f'], ['abc', 'd * f']), ['abc', '', 'd * f'])
  assert.deepEqual(masked(['abc'], null), ['abc'])
  assert.deepEqual(masked(['abc'], []), ['abc'])
})

const unreadable: Json[] = [
  'abc',
  {},
  [1],
  ['one', 'too many'],
  ['one', {}],
  [{ start: 0 }],
  [{ start: '0', end: 1 }],
  [{ start: 2, end: 1 }],
  [{ start: -1, end: 1 }],
  [{ start: 0.5, end: 1 }],
  [{ start: 0, end: 4 }],
  [{ start: 0, end: 1, mask: 1 }],
  [{ start: 0, end: 1, index: 1 }],
  [{ start: 0, end: 1, index: '0' }],
  [{ start: 0, end: 1, match: 'b' }],
]
for (const result of unreadable) {
  test(`${JSON.stringify(result)} masks nothing of one text, and is a failure`, () =>
    assert.equal(masked(['abc'], result), null))
}

test('masks in the arguments of a tool keep them JSON', () => {
  const text = JSON.stringify({ to: 'a\nAnn "x" é\\', n: 1 })
  const about = [call]
  const start = text.indexOf('nAnn')
  assert.deepEqual(masked([text], [{ start, end: start + 4, mask: '<"P">' }], { about }), [
    text.replace('\\nAnn', '<\\"P\\">'),
  ])
  const end = text.indexOf('\\\\') + 1
  const [written = ''] = masked([text], [{ start: end - 3, end }], { about }) ?? []
  assert.equal((JSON.parse(written) as { to: string }).to, 'a\nAnn "x"<masked>')
})

test('packs hold every character of the texts, within the limits', () => {
  const texts = fc.array(fc.string({ unit: anyCharacter, maxLength: 2_000, size: 'max' }), { maxLength: 5 })
  const limits = fc.record({
    maxTexts: fc.integer({ min: 1, max: 3 }),
    maxCharacters: fc.constantFrom(512, 600, 3_000),
  })
  fc.assert(
    fc.property(texts, limits, (texts, limits) => {
      const ends = texts.map(() => 0)
      for (const pack of packsOf(texts, limits)) {
        assert.ok(pack.length <= limits.maxTexts)
        assert.ok(pack.map(({ text }) => text).join('\n').length <= limits.maxCharacters)
        for (const { text, index, start } of pack) {
          assert.equal(texts[index]?.slice(start, start + text.length), text)
          assert.ok(start <= (ends[index] ?? 0), 'no gap')
          assert.doesNotMatch(text, /^[\udc00-\udfff]/u)
          ends[index] = start + text.length
        }
      }
      assert.deepEqual(
        ends,
        texts.map((text) => (text.trim() === '' ? 0 : text.length)),
      )
    }),
    { numRuns: 50 },
  )
})
