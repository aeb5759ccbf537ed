import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { compileRegex } from './compile-regex.ts'

describe('regex: every match of a text', () => {
  it('gives them in order, none overlapping', () => {
    assert.deepEqual(spansOf('[a-z]+', 'ab 1 cd'), ['ab', 'cd'])
    assert.deepEqual(spansOf('aa', 'aaaaa'), ['aa', 'aa'])
    assert.deepEqual(spansOf('😀', 'x😀😀'), ['😀', '😀'])
    assert.deepEqual(spansOf('x*', 'axxb'), ['', 'xx', '', ''])
  })

  it('sees the text before the start offset', () => {
    assert.deepEqual(spansOf('^a', 'aaa', 1), [])
    assert.deepEqual(spansOf('\\ba', 'xa a', 1), ['a'])
    assert.deepEqual(spansOf('(?m)^a', '\na', 1), ['a'])
  })
})

describe('regex: bounds of matches', () => {
  it('knows the longest match', () => {
    assert.equal(reach('abc')?.longest, 3)
    assert.equal(reach('a{2,4}(b|cde)?')?.longest, 7)
    assert.equal(reach('a|bc$')?.longest, 2)
    assert.equal(reach('[^a]{3}')?.longest, 6)
    assert.equal(reach('ab+')?.longest, Infinity)
    assert.equal(reach('(?i)\\bab\\b')?.longest, 2)
  })

  it('knows the first characters of a match, and all its characters', () => {
    const found = reach('x?y[0-9]+')!
    assert.equal(holds('xy', found.canStartWith), true)
    assert.equal(holds('0', found.canStartWith), false)
    assert.equal(holds('xy059', found.canContain), true)
    assert.equal(holds(' ', found.canContain), false)
    assert.equal(holds('ä', found.canContain), false)
    assert.equal(holds('ä\u{1f600}', reach('[^a]')!.canContain), true)
  })

  it('includes letters of both cases, and the signs that fold to them', () => {
    const found = reach('(?i)Sk1')!
    assert.equal(holds('sSkK1\u017f\u212a', found.canContain), true)
    assert.equal(holds('a2', found.canContain), false)
  })

  for (const pattern of ['(?s)a.b', '\\pL+', 'a\\b*b', '(?P<n>a)', '[[:alpha:]]']) {
    it(`does not claim to know ${pattern}`, () => assert.equal(reach(pattern), null))
  }

  it('holds for every match', () => {
    const patterns = ['a[b-d]{0,3}', '(?i)s\\bx|k{2}', '\\bfoo|[^o]{2,3}$', '(ab|c)+d?', '\\Ba?.', '[\\w-]+@x']
    fc.assert(
      fc.property(fc.constantFrom(...patterns), textOfFew, (pattern, text) => {
        const { longest, canStartWith, canContain } = reach(pattern)!
        for (const found of spansOf(pattern, text)) {
          assert.ok(found.length <= longest)
          assert.ok(found === '' || canStartWith(found.charCodeAt(0)))
          assert.ok(holds(found, canContain))
        }
      }),
    )
  })
})

const textOfFew = fc.string({
  unit: fc.constantFrom(...Array.from('abcdfosSkKxX@ -\u017f\u212a\u{1f600}')),
  maxLength: 30,
})

function compiled(pattern: string) {
  const regex = compileRegex(pattern)
  assert.ok(regex.ok)
  return regex
}

function reach(pattern: string) {
  return compiled(pattern).reach
}

function spansOf(pattern: string, text: string, from = 0): string[] {
  return [...compiled(pattern).matches(text, from)].map(({ start, end }) => text.slice(start, end))
}

function holds(text: string, test: (code: number) => boolean): boolean {
  return Array.from({ length: text.length }, (_, at) => text.charCodeAt(at)).every(test)
}
