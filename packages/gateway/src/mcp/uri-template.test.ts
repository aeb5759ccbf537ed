import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { matchTemplate } from './uri-template.ts'

const cases: [template: string, uri: string, literal: number | null][] = [
  ['test://template/{id}/data', 'test://template/123/data', 21],
  ['test://template/{id}/data', 'test://template/123/other', null],
  ['test://template/{id}/data', 'test://template/data', null],
  ['file:///{+path}', 'file:///a/b/c', 8],
  ['file:///{path}{?q,r}', 'file:///a?q=1', 8],
  ['{+uri}', 'anything', 0],
  ['a{x}b{y}c', 'a1b2c', 3],
  ['a{x}b{y}c', 'a1c2b', null],
  ['a{x}a', 'a', null],
  ['plain://x', 'plain://x', 9],
  ['plain://x', 'plain://xy', null],
  ['broken{x', 'broken{x', 8],
]
for (const [template, uri, literal] of cases) {
  test(`${template} and ${uri}`, () => assert.equal(matchTemplate(template, uri), literal))
}

test('whatever is put into a template fits it', () => {
  const text = fc.stringMatching(/^[a-z:/]{0,8}$/)
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { minLength: 1 }), text, (parts, end) => {
      const template = parts.map(([literal]) => `${literal}{x}`).join('') + end
      const uri = parts.map(([literal, value]) => literal + value).join('') + end
      assert.notEqual(matchTemplate(template, uri), null)
    }),
    { seed: 5 },
  )
})

test('hostile templates take no time and throw nothing', () => {
  fc.assert(fc.property(fc.string(), fc.string(), (template, uri) => void matchTemplate(template, uri)))
  assert.equal(matchTemplate('{a}x'.repeat(20_000) + 'y', 'x'.repeat(40_000)), null)
})
