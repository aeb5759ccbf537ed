import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check, createEnvironment, dyn } from '@portico/cel/check'
import * as fc from 'fast-check'
import { alternativesOf } from './item-rules.ts'

const cases: [source: string, parts: string[]][] = [
  ['a', ['a']],
  ['a || b', ['a', 'b']],
  ['a||b || c', ['a', 'b', 'c']],
  ['a && (b || c) || d', ['a && (b || c)', 'd']],
  ['"a || b" == c || d', ['"a || b" == c', 'd']],
  ["'\"' == c || d", ["'\"' == c", 'd']],
  ['a[b || c] || {"x": d || e}.x', ['a[b || c]', '{"x": d || e}.x']],
  ['f(a || b)', ['f(a || b)']],
  // The split is not certain: operators that bind looser, escapes, long texts, comments.
  ['a || b ? c : d', ['a || b ? c : d']],
  ['(a ? b : c) || d', ['(a ? b : c)', 'd']],
  ['a == "\\"" || b', ['a == "\\"" || b']],
  ['a == """x || y""" || b', ['a == """x || y""" || b']],
  ['a // || b\n || c', ['a // || b\n || c']],
  ['a == "', ['a == "']],
]
for (const [source, parts] of cases) {
  test(`alternatives of ${JSON.stringify(source)}`, () => assert.deepEqual(alternativesOf(source), parts))
}

test('alternatives of a valid expression are valid expressions', () => {
  const environment = createEnvironment({ variables: { a: dyn, b: dyn } })
  const atom = fc.constantFrom(
    'a',
    'b.c',
    '"x || y"',
    "'(' + a",
    '[a, b][0]',
    '{"k": b}.k',
    'a.exists(x, x || b)',
    'a ? b : a',
  )
  const { source } = fc.letrec<{ source: string }>((tie) => ({
    source: fc.oneof(
      { maxDepth: 4 },
      atom,
      fc.tuple(tie('source'), fc.constantFrom('||', '&&'), tie('source')).map((parts) => parts.join(' ')),
      tie('source').map((inner) => `(${inner})`),
    ),
  }))
  fc.assert(
    fc.property(source, (text) => {
      if (check(text, environment).problems.length > 0) return
      for (const part of alternativesOf(text))
        assert.deepEqual(check(part, environment).problems, [], `${text}: ${part}`)
    }),
    { seed: 5, numRuns: 1000 },
  )
})
