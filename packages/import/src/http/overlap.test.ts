import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ANY_MATCH, type PathCondition } from './model.ts'
import { canOverlap, isPathWithin } from './overlap.ts'
import { fitsPath } from './paths.ts'

const text = fc.constantFrom('/', '/1', '/a', '/A/b', '/a/', '/1/2')
const condition: fc.Arbitrary<PathCondition> = fc.oneof(
  fc.record({ kind: fc.constantFrom('exact', 'start', 'segments'), path: text }),
  text.map((path) => ({ kind: 'start', path: path.toLowerCase(), isCaseless: true }) as const),
  fc.constantFrom('/.*', '(?i)/a.*', '.*b', '(?i).*', '/1.*').map((regex) => ({ kind: 'pattern', regex }) as const),
)

test('conditions that fit one path overlap, in any letter case', () => {
  const paths = fc.constantFrom('/', '/1', '/a', '/A', '/a/b', '/A/B', '/1/2', '/ab')
  fc.assert(
    fc.property(condition, condition, paths, (one, other, path) => {
      const fitsBoth = fitsPath(one, path) === true && fitsPath(other, path) === true
      const mayOverlap = canOverlap({ ...ANY_MATCH, path: one }, { ...ANY_MATCH, path: other })
      assert.ok(mayOverlap || !fitsBoth)
      if (isPathWithin(one, other)) assert.ok(fitsPath(one, path) !== true || fitsPath(other, path) === true)
    }),
    { numRuns: 3_000 },
  )
})
