import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { fitCallId } from './fit-call-id.ts'
import { anyCharacter } from '../../../http/src/testing/any-character.ts'

describe('the id of a call', () => {
  it('is kept when it fits', () => {
    for (const id of ['call_abc123', 'toolu_01A09q90qw90lq917835lq9', 'a'.repeat(40)])
      assert.equal(fitCallId(id, 40), id)
  })

  it('always fits, is always the same, and tells calls apart', () => {
    const ids = fc.uniqueArray(fc.string({ unit: anyCharacter, maxLength: 80 }), { minLength: 2, maxLength: 2 })
    fc.assert(
      fc.property(ids, ([one, other]) => {
        const fitted = fitCallId(one!, 40)
        assert.match(fitted, /^[A-Za-z0-9_-]{1,40}$/)
        assert.equal(fitCallId(one!, 40), fitted)
        assert.notEqual(fitCallId(other!, 40), fitted)
      }),
    )
  })
})
