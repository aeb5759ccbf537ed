import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { applyChange, EMPTY_IR } from '../ir/change.ts'
import type { Ir } from '../ir/resources.ts'
import { changeSince, generationOf, hashesOf, hashOf } from './hashes.ts'
import { irs } from './test-irs.ts'

const overTheWire = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value

test('hashes and order say what differs, and that alone is sent', () => {
  fc.assert(
    fc.property(irs, irs, (before, after) => {
      const change = changeSince(overTheWire(hashesOf(before)), after) ?? assert.fail('keys are unique')
      const made = applyChange(overTheWire(before), overTheWire(change)).ir
      assert.deepEqual(made, after)
      assert.equal(generationOf(made), generationOf(after))
      const same = new Set(before.backends.map((backend) => hashOf(backend)))
      const stays = after.backends.filter((backend) => same.has(hashOf(backend))).length
      assert.ok(change.backends.put.length <= after.backends.length - Math.min(stays, 1))
    }),
    { numRuns: 1_000 },
  )
})

test('a generation is one of contents and order', () => {
  fc.assert(
    fc.property(irs, irs, (one, other) => {
      const isSame = JSON.stringify(one) === JSON.stringify(other)
      assert.equal(generationOf(one) === generationOf(other), isSame)
      assert.equal(generationOf(overTheWire(one)), generationOf(one))
    }),
    { numRuns: 1_000 },
  )
  const backend = { key: 'a', name: 'a', target: { kind: 'static', host: 'h', port: 1 } } as const
  const [one, two] = [{ ...backend }, { ...backend, key: 'b' }]
  const irOf = (backends: Ir['backends']): Ir => ({ ...EMPTY_IR, backends })
  assert.notEqual(generationOf(irOf([one, two])), generationOf(irOf([two, one])))
})

test('keys that are not unique ask for the whole', () => {
  const backend = { key: 'a', name: 'a', target: { kind: 'static', host: 'h', port: 1 } } as const
  const twice: Ir = { ...EMPTY_IR, backends: [backend, { ...backend, name: 'b' }] }
  assert.equal(changeSince(hashesOf(EMPTY_IR), twice), null)
})
