import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { SharingMap } from './sharing-map.ts'

test('a map keeps its entries, whatever maps are derived from it', () => {
  const some = fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.option(fc.nat(), { nil: undefined })))
  // More entries than a map keeps apart from the shared map.
  const many = fc.nat(999).map((start) => Array.from({ length: 300 }, (_, i): [string, number] => [`${start + i}`, i]))
  const entries = fc.oneof({ weight: 4, arbitrary: some }, { weight: 1, arbitrary: many })
  fc.assert(
    fc.property(fc.array(entries, { maxLength: 5 }), (steps) => {
      const made: [SharingMap<number>, Map<string, number>][] = [[SharingMap.of<number>([]), new Map()]]
      for (const step of steps) {
        const [map, model] = made.at(-1)!
        const next = new Map(model)
        for (const [key, value] of step) {
          if (value === undefined) next.delete(key)
          else next.set(key, value)
        }
        made.push([map.with(step), next], [SharingMap.of(next), next])
      }
      const keys = new Set(steps.flat().map(([key]) => key))
      for (const [map, model] of made) {
        for (const key of keys) {
          assert.equal(map.get(key), model.get(key))
          assert.equal(map.has(key), model.has(key))
        }
        assert.deepEqual(new Map(map.entries()), model)
      }
    }),
  )
})
