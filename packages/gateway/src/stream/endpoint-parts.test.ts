import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { differingParts, ENDPOINT_PARTS, endpointHashesOf, endpointPart } from './endpoint-parts.ts'

const keys = fc.oneof(fc.constantFrom('a', 'b', 'backend/service/shop/orders/80'), fc.string())
const addresses = fc.array(fc.constantFrom('10.0.0.1:80', '10.0.0.2:80', '[fd00::1]:80'), { maxLength: 2 })
const all = fc.array(fc.tuple(keys, addresses), { maxLength: 30 }).map((entries) => new Map(entries))

test('parts that differ are those with a key that does, in any order of keys', () => {
  fc.assert(
    fc.property(all, all, (one, other) => {
      const isSame = (key: string): boolean => JSON.stringify(one.get(key)) === JSON.stringify(other.get(key))
      const wanted = [...one.keys(), ...other.keys()].filter((key) => !isSame(key)).map(endpointPart)
      const reversed = [...other].toReversed()
      const found = differingParts(endpointHashesOf(one), endpointHashesOf(reversed))
      assert.deepEqual(new Set(found), new Set(wanted))
    }),
    { numRuns: 1_000 },
  )
})

test('keys are spread over all parts', () => {
  const found = new Set(Array.from({ length: 1_000 }, (_, index) => endpointPart(`backend/service/shop/s${index}/80`)))
  assert.ok(found.size > ENDPOINT_PARTS / 2)
  assert.ok([...found].every((part) => part >= 0 && part < ENDPOINT_PARTS))
})
