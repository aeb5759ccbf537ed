import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { PARTS } from './budget-period.ts'
import { createKeyedTable } from './keyed-budgets.ts'
import { PartTable } from './part-table.ts'

const create = (slots = 4) => new PartTable(createKeyedTable(PartTable.size(slots)))

describe('the parts of a rolling period', () => {
  test('leave it once, each when all of it is over, whatever the order', () => {
    const step = fc.record({
      slot: fc.nat({ max: 3 }),
      amount: fc.nat({ max: 1_000 }),
      later: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 60 })),
      expires: fc.boolean(),
    })
    fc.assert(
      // Part numbers above 2 ** 14 are tested, because words store only the low 14 bits of the number.
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 0, max: 2 ** 15 }), (steps, first) => {
        const table = create()
        const spent: { slot: number; part: number; amount: number }[] = []
        const gone = [0, 0, 0, 0]
        const since = (slot: number, from: number) =>
          spent.filter((each) => each.slot === slot && each.part >= from && each.amount > 0)
        const sumOf = (list: { amount: number }[]) => list.reduce((sum, { amount }) => sum + amount, 0)
        let part = first
        for (const { slot, amount, later, expires } of steps) {
          part += later
          gone[slot] = (gone[slot] ?? 0) + table.add(slot, part, amount)
          spent.push({ slot, part, amount })
          if (!expires) continue
          gone[slot] += table.expire(slot, part)
          const live = since(slot, part - PARTS)
          assert.equal(sumOf(since(slot, 0)) - gone[slot], sumOf(live))
          assert.equal(table.oldest(slot, part), live[0]?.part ?? null)
          assert.equal(table.expire(slot, part), 0)
        }
      }),
    )
  })

  test('count in the part that is there when a clock is set back', () => {
    const table = create()
    table.add(0, 100, 5)
    assert.equal(table.add(0, 99, 7), 0)
    assert.equal(table.expire(0, 98), 0)
    assert.equal(table.oldest(0, 98), 98)
    assert.equal(table.expire(0, 99 + PARTS), 0)
    assert.equal(table.expire(0, 100 + PARTS), 7)
    assert.equal(table.expire(0, 101 + PARTS), 5)
  })

  test('are as they were after a restart, as far as the table has room', () => {
    const table = create(10_000)
    table.add(1, 30_000, 5)
    table.add(9_999, 30_001, 6)
    const saved = JSON.parse(JSON.stringify(table.save())) as ReturnType<PartTable['save']>
    const buffer = createKeyedTable(PartTable.size(2))
    PartTable.restore(buffer, saved)
    const restored = new PartTable(buffer)
    assert.equal(restored.oldest(1, 30_003), 30_000)
    assert.equal(restored.save().words.length, 1)
  })
})
