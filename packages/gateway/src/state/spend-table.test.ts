import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createKeyedTable } from './keyed-budgets.ts'
import { SpendTable } from './spend-table.ts'

const create = (keys = 100) => new SpendTable(createKeyedTable(SpendTable.size(keys)), Math.random)
const slotIn = (table: SpendTable, key = 'a') => table.slot(key) ?? assert.fail('no room')

describe('spent and reserved amounts', () => {
  test('together never exceed the limit, and nothing stays reserved, whatever the order', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('reserve' as const), amount: fc.nat(400) }),
      fc.record({ do: fc.constant('settle' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
      fc.record({ do: fc.constant('die' as const) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 1000 }), (steps, limit) => {
        const table = create()
        const slot = slotIn(table)
        const held: { lease: NonNullable<ReturnType<SpendTable['open']>>; amount: number }[] = []
        let [spent, reserved] = [0, 0]
        for (const each of steps) {
          if (each.do === 'reserve') {
            const lease = table.open(1_000) ?? assert.fail('no lease')
            const period = table.take(slot, 7, each.amount, limit)
            assert.equal(period !== null, spent + reserved + each.amount <= limit)
            if (period === null) assert.ok(table.close(lease))
            else {
              table.keep(lease, slot, period, each.amount)
              held.push({ lease, amount: each.amount })
              reserved += each.amount
            }
          } else if (each.do === 'settle') {
            const one = held.shift()
            if (one === undefined) continue
            const cost = Math.floor(one.amount * each.share)
            assert.ok(table.close(one.lease))
            table.change(slot, 7, cost - one.amount)
            reserved -= one.amount
            spent += cost
          } else {
            // The thread that held all of them is gone, and the leases have run out.
            assert.equal(table.sweep(1_001), held.length)
            for (const { lease } of held) assert.equal(table.close(lease), false)
            held.length = 0
            reserved = 0
          }
          assert.equal(table.amount(slot, 7), spent + reserved)
          assert.ok(spent + reserved <= limit)
        }
        table.sweep(2_000)
        assert.equal(table.amount(slot, 7), spent)
      }),
    )
  })

  test('begin anew with each period, and a clock that is set back begins no period twice', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), (period) => {
        const table = create()
        const slot = slotIn(table)
        table.take(slot, period, 10, 10)
        assert.equal(table.take(slot, period, 1, 10), null)
        assert.notEqual(table.take(slot, period + 1, 10, 10), null)
        assert.equal(table.take(slot, period, 1, 10), null, 'set back')
        assert.equal(table.amount(slot, period + 2), 0)
      }),
    )
  })

  test('change only in their own period', () => {
    const table = create()
    const slot = slotIn(table)
    table.take(slot, 5, 10, 10)
    table.take(slot, 6, 3, 10)
    table.change(slot, 5, -10)
    assert.equal(table.grow(slot, 5, 100, 10), true)
    assert.equal(table.amount(slot, 6), 3)
  })

  test('may exceed the limit only by what was spent already', () => {
    const table = create()
    const slot = slotIn(table)
    table.charge(slot, 5, 25)
    assert.equal(table.amount(slot, 5), 25)
    assert.equal(table.take(slot, 5, 0, 10), null)
  })
})

describe('leases', () => {
  test('that are renewed are not taken back', () => {
    const table = create()
    const slot = slotIn(table)
    const lease = table.open(1_000) ?? assert.fail('no lease')
    table.keep(lease, slot, table.take(slot, 1, 8, 10) ?? 0, 8)
    table.renew(lease, 5_000)
    assert.equal(table.sweep(1_500), 0)
    assert.equal(table.amount(slot, 1), 8)
    assert.equal(table.sweep(5_001), 1)
    assert.equal(table.amount(slot, 1), 0)
  })

  test('are used again once they are closed, and there may be none left', () => {
    const table = create()
    const leases = Array.from({ length: 4_096 }, () => table.open(1_000))
    assert.ok(leases.every((lease) => lease !== null))
    assert.equal(table.open(1_000), null)
    const [first] = leases
    if (first != null) table.close(first)
    assert.notEqual(table.open(1_000), null)
  })
})

test('keys have separate slots, the same in every thread, and no room beyond the size', () => {
  const buffer = createKeyedTable(SpendTable.size(1_000))
  const [one, other] = [new SpendTable(buffer, Math.random), new SpendTable(buffer, Math.random)]
  const keys = Array.from({ length: 1_000 }, (_, index) => `key ${index}`)
  const slots = keys.map((key) => one.slot(key))
  assert.deepEqual(
    keys.map((key) => other.slot(key)),
    slots,
  )
  assert.equal(new Set(slots).size, 1_000)
  assert.ok(!slots.includes(null))
  const small = create(1)
  const many = Array.from({ length: 10_000 }, (_, index) => small.slot(`key ${index}`))
  assert.ok(many.includes(null))
})
