import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { createKeyedTable } from './keyed-budgets.ts'
import { type KnownSlot, type Lease, SpendTable } from './spend-table.ts'

test('a save that knows the last one saves the same as one that knows nothing', () => {
  const step = fc.record({
    kind: fc.constantFrom('charge', 'take', 'reserve', 'settle', 'save'),
    key: fc.nat(5),
    period: fc.integer({ min: 1, max: 3 }),
    amount: fc.nat(100),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const table = new SpendTable(createKeyedTable(SpendTable.size(20)), Math.random)
      const known = new Map<number, KnownSlot>()
      const leases: { lease: Lease; slot: number; period: number; amount: number }[] = []
      for (const { kind, key, period, amount } of [...steps, { kind: 'save', key: 0, period: 1, amount: 0 }]) {
        const slot = table.slot(`k${key}`) ?? assert.fail('no room')
        if (kind === 'charge') table.charge(slot, period, amount)
        else if (kind === 'take') table.take(slot, period, amount, 1_000)
        else if (kind === 'reserve') {
          const taken = table.take(slot, period, amount, 1_000)
          const lease = taken === null ? null : table.open(1_000)
          if (lease === null || taken === null) continue
          table.keep(lease, slot, taken, amount)
          leases.push({ lease, slot, period: taken, amount })
        } else if (kind === 'settle') {
          const held = leases.pop()
          // A call that costs exactly its reservation leaves the word of its slot unchanged, which `save` has to notice.
          if (held !== undefined && table.close(held.lease)) {
            table.change(held.slot, held.period, (amount % 2) * -held.amount)
          }
        } else assert.deepEqual(table.save(known), table.save())
      }
    }),
    { numRuns: 400 },
  )
})
