import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { weightedPicker } from './lazy-route.ts'

const ALMOST_ONE = 1 - Number.EPSILON / 2

describe('weightedPicker', () => {
  it('has nothing to pick from without a positive weight', () => {
    assert.equal(weightedPicker([]), null)
    assert.equal(weightedPicker([0, 0]), null)
  })

  it('picks the only positive weight whatever the random number', () => {
    const pick = weightedPicker([0, 5, 0])
    for (const random of [0, 0.5, ALMOST_ONE, NaN]) assert.equal(pick?.(random), 1)
  })

  it('switches exactly at the borders', () => {
    const pick = weightedPicker([1, 0, 2, 1])
    const picked = [0, 0.2499, 0.25, 0.7499, 0.75, ALMOST_ONE].map((random) => pick?.(random))
    assert.deepEqual(picked, [0, 0, 2, 2, 3, 3])
  })

  it('gives each entry its share, and never one of weight 0', () => {
    const weights = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(weights, (list) => {
        const total = list.reduce((sum, weight) => sum + weight, 0)
        const pick = weightedPicker(list)
        assert.equal(pick === null, total === 0)
        if (pick === null) return
        const counts = list.map(() => 0)
        // The middle of each unit of weight: no rounding at the borders.
        for (let unit = 0; unit < total; unit++) counts[pick((unit + 0.5) / total)]!++
        assert.deepEqual(counts, list)
        for (const random of [0, ALMOST_ONE]) assert.ok(list[pick(random)]! > 0)
      }),
      { seed: 50, numRuns: 300 },
    )
  })
})
