import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { applyChange, EMPTY_IR } from '../ir/change.ts'
import type { Backend, Ir } from '../ir/resources.ts'
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

test('a generation made of the one before is the one from scratch, whatever has changed', () => {
  const edits = fc.record({ at: fc.nat(), cut: fc.nat(3), put: fc.array(fc.nat(3), { maxLength: 3 }), back: fc.nat(2) })
  fc.assert(
    fc.property(fc.array(fc.nat(3), { maxLength: 20 }), fc.array(edits, { maxLength: 12 }), (first, changes) => {
      let made = 0
      const backendOf = (port: number): Backend => ({
        key: `backend/${made++}`,
        name: 'b',
        target: { kind: 'static', host: 'h', port },
      })
      const seen: Ir[] = [{ ...EMPTY_IR, backends: first.map(backendOf) }]
      for (const { at, cut, put, back } of changes) {
        // Mostly derived from the newest config, as on a stream; now and then from an older config.
        const before = seen.at(-1 - back) ?? EMPTY_IR
        const moved = before.backends.slice(0, back)
        const backends = before.backends.slice(back)
        backends.splice(at % (backends.length + 1), cut, ...put.map(backendOf), ...moved)
        const after = { ...before, backends }
        assert.equal(generationOf(after, before), generationOf(overTheWire(after)))
        seen.push(after)
      }
    }),
    { numRuns: 1_000 },
  )
})

test('changes one after the other take no memory outside of the heap', () => {
  const backendOf = (index: number): Backend => ({
    key: `backend/${index}`,
    name: 'b',
    target: { kind: 'static', host: 'h', port: 1 },
  })
  let ir: Ir = { ...EMPTY_IR, backends: Array.from({ length: 2_000 }, (_, index) => backendOf(index)) }
  generationOf(ir)
  const before = process.memoryUsage().arrayBuffers
  for (let index = 0; index < 200; index++) {
    const next = { ...ir, backends: [...ir.backends.slice(index % 2), backendOf(2_000 + index)] }
    generationOf(next, ir)
    ir = next
  }
  // New buffers would take 44 kB per change; a collection by other code meanwhile lowers the sum.
  const most = 500_000
  assert.ok(process.memoryUsage().arrayBuffers - before < most)
  assert.equal(generationOf(overTheWire(ir)), generationOf(ir))
})

test('keys that are not unique ask for the whole', () => {
  const backend = { key: 'a', name: 'a', target: { kind: 'static', host: 'h', port: 1 } } as const
  const twice: Ir = { ...EMPTY_IR, backends: [backend, { ...backend, name: 'b' }] }
  assert.equal(changeSince(hashesOf(EMPTY_IR), twice), null)
})
