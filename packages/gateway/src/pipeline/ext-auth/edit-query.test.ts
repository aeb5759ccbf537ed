import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { editQuery } from './edit-query.ts'

test('parameters are set and removed; the others stay as they were written', () => {
  const cases: [string, [string, string][], string[], string | null][] = [
    ['/p?a=1', [], [], null],
    ['/p', [['a', '1']], [], '/p?a=1'],
    ['/p?a=1&b=%20&a=2', [['a', '3']], [], '/p?b=%20&a=3'],
    ['/p?a=1&b', [], ['a'], '/p?b'],
    ['/p?a=1', [], ['a'], '/p'],
    ['/p?%61=1&b=%zz', [], ['a'], '/p?b=%zz'],
    ['/p?a+b=1', [], ['a b'], '/p'],
    ['/p?x', [['k&', 'v=#?/é']], ['y'], '/p?x&k%26=v%3D%23%3F%2F%C3%A9'],
  ]
  for (const [target, set, removed, expected] of cases) {
    const pairs = set.map(([key, value]) => ({ key, value }))
    assert.equal(editQuery(target, { set: pairs, removed }), expected, target)
  }
})

test('as the parameters of URLs do it', () => {
  const name = fc.constantFrom('a', 'b', 'c d', 'é', '&', '=')
  const value = fc.string({ maxLength: 8, unit: 'grapheme' })
  const pairs = fc.array(fc.tuple(name, value), { maxLength: 6 })
  fc.assert(
    fc.property(
      pairs,
      fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, maxLength: 3 }),
      fc.array(name),
      (given, set, removed) => {
        const params = new URLSearchParams(given)
        const target = given.length === 0 ? '/p' : `/p?${params.toString()}`
        for (const key of removed) params.delete(key)
        for (const [key, text] of set) {
          params.delete(key)
          params.append(key, text)
        }
        const edited = editQuery(target, { set: set.map(([key, text]) => ({ key, value: text })), removed }) ?? target
        assert.deepEqual([...new URL(edited, 'http://x').searchParams], [...params])
      },
    ),
  )
})
