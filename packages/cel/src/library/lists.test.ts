import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { show } from '../testing/evaluate.ts'

describe('lists and sets', () => {
  const cases: readonly (readonly [source: string, expected: string | RegExp])[] = [
    ['[1, 2, 2, 3, 1].distinct()', '[int 1, int 2, int 3]'],
    ['["b", "a", "b"].distinct()', '["b", "a"]'],
    ['[1, 1.0, 1u, "1"].distinct()', '[int 1, "1"]'],
    ['[[1], [1], {"a": 1}, {"a": 1}].distinct()', '[[int 1], {"a": int 1}]'],
    ['[].distinct()', '[]'],
    ['[3, 1, 2].sort()', '[int 1, int 2, int 3]'],
    ['["b", "é", "a"].sort()', '["a", "b", "é"]'],
    ['[true, false].sort()', '[false, true]'],
    ['[duration("2s"), duration("1s")].sort() == [duration("1s"), duration("2s")]', 'true'],
    ['[].sort()', '[]'],
    ['[dyn(1), dyn("a")].sort()', /^bad_value/],
    ['[dyn(1), dyn(1.5)].sort()', /^bad_value/],
    ['[{}].sort()', /^no_such_overload/],
    ['[1, 2, 3, 4].slice(1, 3)', '[int 2, int 3]'],
    ['[1, 2].slice(0, 0)', '[]'],
    ['[1, 2].slice(2, 2)', '[]'],
    ['[1, 2].slice(1, 3)', /^bad_value/],
    ['[1, 2].slice(-1, 1)', /^bad_value/],
    ['[1, 2].slice(2, 1)', /^bad_value/],
    ['[1, [2, [3]], []].flatten()', '[int 1, int 2, [int 3]]'],
    ['[1, [2, [3, [4]]]].flatten(2)', '[int 1, int 2, int 3, [int 4]]'],
    ['[[1], 2].flatten(0)', '[[int 1], int 2]'],
    ['[1].flatten(-1)', /^bad_value/],
    ['sets.contains([1, 2, 3], [3, 1])', 'true'],
    ['sets.contains([], [])', 'true'],
    ['sets.contains([], [1])', 'false'],
    ['sets.contains([1], [1.0, 1u])', 'true'],
    ['sets.equivalent([1, 2, 2], [2, 1])', 'true'],
    ['sets.equivalent([1], [1, 2])', 'false'],
    ['sets.intersects([1, 2], [2, 3])', 'true'],
    ['sets.intersects([[1]], [[1], 2])', 'true'],
    ['sets.intersects([], [1])', 'false'],
    ['sets.contains(dyn(1), [1])', /^no_such_overload/],
    ['dyn("abc").distinct()', /^no_such_overload/],
  ]
  for (const [source, expected] of cases) {
    it(source, () => {
      const shown = show(source)
      if (typeof expected === 'string') assert.equal(shown, expected)
      else assert.match(shown, expected)
    })
  }

  it('are charged for each item they visit', () => {
    const many = { many: Array.from({ length: 5000 }, (_, index) => index) }
    for (const source of ['many.distinct()', 'sets.equivalent(many, many.map(n, 4999 - n))']) {
      assert.match(show(source, many), /^budget/, source)
    }
  })
})
