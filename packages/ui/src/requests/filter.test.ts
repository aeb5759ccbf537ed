import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { FILTER_NAMES, filterParameters, parseFilter, printFilter, withoutTerm, withTerm } from './filter.ts'

test('terms become parameters, other words are problems', () => {
  const filter = parseFilter('status:>=400 route:chat  expression:"request.path == \\"/a b\\"" nonsense color:red key:')
  assert.equal(
    filterParameters(filter).toString(),
    new URLSearchParams([
      ['status', '>=400'],
      ['route', 'chat'],
      ['expression', 'request.path == "/a b"'],
    ]).toString(),
  )
  assert.deepEqual(filter.problems, ['nonsense', 'color:red', 'key:'])
  assert.deepEqual(parseFilter(' ').terms, [])
})

test('a printed filter reads as the same filter, whatever its values', () => {
  const term = fc
    .tuple(fc.constantFrom(...FILTER_NAMES), fc.string({ minLength: 1 }))
    .map(([name, value]) => ({ name, value }))
  fc.assert(
    fc.property(fc.array(term), (terms) => {
      assert.deepEqual(parseFilter(printFilter(terms)), { terms, problems: [] })
    }),
  )
})

test('a click adds a term, and another click removes it', () => {
  const narrowed = withTerm('since:15m route:a', 'route', 'b c')
  assert.equal(narrowed, 'since:15m route:"b c"')
  assert.equal(withoutTerm(narrowed, 'since'), 'route:"b c"')
})
