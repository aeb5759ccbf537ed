import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { matchesGlob } from './glob.ts'

it('a star stands for any text, and everything else for itself', () => {
  const cases: [pattern: string, text: string, matches: boolean][] = [
    ['a', 'a', true],
    ['a', 'ab', false],
    ['*', '', true],
    ['a*', 'a', true],
    ['*_delete', 'repo_delete', true],
    ['*_delete', 'repo_deleted', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*a', 'a', false],
    ['a.c', 'abc', false],
    ['[a]', 'a', false],
  ]
  for (const [pattern, text, matches] of cases) assert.equal(matchesGlob(pattern, text), matches, `${pattern} ${text}`)
})

it('a glob matches the same texts as its regular expression', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 })
  const plain = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 })
  fc.assert(
    fc.property(letters, plain, (pattern, text) => {
      assert.equal(matchesGlob(pattern, text), new RegExp(`^${pattern.replaceAll(/\*+/g, '.*')}$`).test(text))
    }),
  )
})
