import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { firstQueryValue } from './query.ts'

describe('firstQueryValue', () => {
  const cases: [query: string, name: string, value: string | null][] = [
    ['a=1', 'a', '1'],
    ['a=1&a=2', 'a', '1'],
    ['b=1&a=2', 'a', '2'],
    ['ab=1', 'a', null],
    ['a', 'a', ''],
    ['a=', 'a', ''],
    ['a=b=c', 'a', 'b=c'],
    ['&&a=1&', 'a', '1'],
    ['=x', '', 'x'],
    ['', '', null],
    ['', 'a', null],
    ['b&a=1', 'b', ''],
    ['a+b=c+d', 'a b', 'c d'],
    ['%61=%62', 'a', 'b'],
    ['a=%2B', 'a', '+'],
    ['a=%zz%4', 'a', '%zz%4'],
    ['a=%C3%A9', 'a', 'é'],
    ['a=\xc3\xa9', 'a', 'é'],
    ['a=%FF', 'a', '\ufffd'],
    ['a;b=1', 'a', null],
  ]
  for (const [query, name, value] of cases) {
    it(`reads ${value === null ? 'nothing' : `'${value}'`} for '${name}' in '${query}'`, () =>
      assert.equal(firstQueryValue(query, name), value))
  }

  it('decodes as the URL standard does', () => {
    const query = fc.string({ unit: fc.constantFrom(...'abAF019%%%&&==+;'.split('')), maxLength: 20 })
    fc.assert(
      fc.property(query, (text) => {
        const reference = new URLSearchParams(text)
        for (const name of reference.keys()) assert.equal(firstQueryValue(text, name), reference.get(name))
        assert.equal(firstQueryValue(text, 'missing'), null)
      }),
      { seed: 60, numRuns: 3000 },
    )
  })
})
