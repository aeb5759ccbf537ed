import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { parseByteSize } from './quantity.ts'
import { sizesFrom, sizesUpTo } from './size-patterns.ts'

const UNITS = ['', 'b', 'B', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'kb', 'KB', 'mb', 'Mb', 'gb', 'GB', 'kib', 'MiB', 'GIB']
const BOUNDS = [1, 1_024, 16_384, 32_768, 65_535, 65_536, 2 ** 20, 2 ** 24 - 1, 2 ** 28, 2 ** 31 - 1, 2 ** 32 - 1]

/** Numbers of the form of a size, many of them near a bound. */
const sizes = fc
  .record({
    bound: fc.constantFrom(...BOUNDS),
    unit: fc.constantFrom(...UNITS),
    shift: fc.integer({ min: -2, max: 2 }),
    places: fc.integer({ min: 0, max: 6 }),
    zeros: fc.constantFrom('', '0', '00'),
    far: fc.option(fc.integer({ min: 0, max: 9_999_999_999 })),
  })
  .map(({ bound, unit, shift, places, zeros, far }) => {
    const near = bound / (parseByteSize(`1${unit}`) ?? assert.fail(unit)) + shift / 10 ** places
    const number = far === null ? Math.max(0, near).toFixed(places) : String(far)
    return `${zeros}${number}`.slice(0, 10).replace(/\.$/, '') + unit
  })

describe('a pattern of sizes', () => {
  it('matches what is within its bound, and nothing else of that form', () => {
    const patterns = BOUNDS.map((bound) => [bound, new RegExp(sizesFrom(bound)), new RegExp(sizesUpTo(bound))] as const)
    fc.assert(
      fc.property(sizes, (text) => {
        const size = parseByteSize(text)
        // A fraction of a byte is refused for its form.
        fc.pre(size !== null)
        for (const [bound, from, upTo] of patterns) {
          assert.equal(from.test(text), size >= bound, `${text} from ${bound}`)
          assert.equal(upTo.test(text), size <= bound, `${text} up to ${bound}`)
        }
      }),
      { numRuns: 3_000 },
    )
  })

  it('knows what is just too large', () => {
    const pattern = new RegExp(sizesUpTo(2 ** 32 - 1))
    for (const text of ['4294967295', '4.294967G', '3.999999Gi', '4095Mi', '0']) assert.match(text, pattern)
    for (const text of ['4294967296', '4.294968G', '4Gi', '5Gi', '4gb', '4096Mi', '9999999999']) {
      assert.doesNotMatch(text, pattern)
    }
  })
})
