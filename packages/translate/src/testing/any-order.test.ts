import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { kindOf } from '../resources/kinds.ts'
import { keyOf } from '../resources/resource.ts'
import { createTranslator, readCases, toPlain, translateAll } from './golden.ts'

describe('translation of events', () => {
  const cases = readCases()

  it('gives the same result in any order, equal to a fresh translation at every step', () => {
    const events = fc.record({
      chosen: fc.nat(cases.length - 1),
      seed: fc.array(fc.record({ at: fc.nat(999), drops: fc.boolean(), settles: fc.boolean() }), { maxLength: 24 }),
    })
    fc.assert(
      fc.property(events, ({ chosen, seed }) => {
        const resources = cases[chosen]?.resources ?? []
        const translator = createTranslator()
        const present = new Set<number>()
        for (const { at, drops, settles } of seed) {
          const index = at % resources.length
          const resource = resources[index]
          const kind = resource === undefined ? null : kindOf(resource)
          if (resource === undefined || kind === null) continue
          if (drops) {
            translator.drop(kind, keyOf(resource))
            present.delete(index)
          } else {
            translator.put(structuredClone(resource))
            present.add(index)
          }
          if (!settles) continue
          translator.settle()
          const fresh = translateAll(resources.filter((_, index) => present.has(index)))
          assert.deepEqual(toPlain(translator), toPlain(fresh))
        }
        for (const resource of resources.toReversed()) translator.put(structuredClone(resource))
        translator.settle()
        assert.deepEqual(toPlain(translator), toPlain(translateAll(resources)))
      }),
      { numRuns: 300 },
    )
  })
})
