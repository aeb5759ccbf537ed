import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Json } from '../schema/kit.ts'
import { BadMatcher, differences } from './matcher.ts'

const matches = (matcher: Json, actual: unknown): boolean => differences(matcher, actual, []).length === 0

const cases: [matcher: Json, actual: unknown, isMatch: boolean][] = [
  ['ok', 'ok', true],
  ['ok', 'okay', false],
  [200, 200, true],
  [200, '200', true],
  ['200', 200, true],
  [true, true, true],
  [null, null, true],
  [null, undefined, true],
  [null, '', false],
  ['', null, false],
  ['~ ^a.*c$', 'abc', true],
  ['~ ^a.*c$', 'ab', false],
  ['~ b', null, false],
  ['!= a', 'b', true],
  ['!= a', 'a', false],
  ['!= a', null, true],
  ['< 5', 4, true],
  ['< 5', '4.5', true],
  ['< 5', 5, false],
  ['<= 5', 5, true],
  ['> 0', 0, false],
  ['>= 0', 0, true],
  // A missing number is not zero.
  ['< 5', null, false],
  ['>= 0', '', false],
  ['< 5', 'text', false],
  // An operator needs a space: paths and comparisons of texts stay texts.
  ['<5', '<5', true],
  [[200, 204], 204, true],
  [[200, 204], 500, false],
  [['a', '~ b'], ['a', 'abc'], true],
  [['a'], ['a', 'b'], false],
  [[], [], true],
  [[], 'a', false],
  [{ a: { b: '> 1' } }, { a: { b: 2, c: 3 } }, true],
  [{ a: 1 }, '{"a": 1}', true],
  [{ a: 1 }, 'no JSON', false],
  [{ a: null }, {}, true],
  [{ a: 1 }, null, false],
]

for (const [matcher, actual, isMatch] of cases) {
  test(`${JSON.stringify(matcher)} ${isMatch ? 'matches' : 'does not match'} ${JSON.stringify(actual)}`, () => {
    assert.equal(matches(matcher, actual), isMatch)
  })
}

test('a difference has the path, the expectation and the value', () => {
  assert.deepEqual(differences({ a: { b: 1 }, c: 'x' }, { a: { b: 2 } }, ['body']), [
    { field: ['body', 'a', 'b'], expected: '1', actual: '2' },
    { field: ['body', 'c'], expected: '"x"', actual: 'nothing' },
  ])
})

test('a matcher that is invalid is no mismatch', () => {
  for (const matcher of ['< five', '> ', '~ (']) {
    assert.throws(() => differences(matcher, 'a', []), BadMatcher, matcher)
  }
})

test('members that every object inherits are no members of a value', () => {
  for (const name of ['valueOf', 'constructor', '__proto__']) {
    assert.equal(matches({ [name]: null }, {}), true, name)
    assert.equal(matches({ [name]: [] }, []), false, name)
  }
})

test('every JSON value without operators matches itself, and nothing ever throws anything else', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const json = JSON.parse(JSON.stringify(one)) as Json
      try {
        if (!/"(~|!=|<=?|>=?) /.test(JSON.stringify(json))) assert.ok(matches(json, json), JSON.stringify(json))
        differences(json, other, [])
      } catch (error) {
        if (!(error instanceof BadMatcher)) throw error
      }
    }),
  )
})
