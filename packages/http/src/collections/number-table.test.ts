import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { NumberTable } from './number-table.ts'

test('the table has the values of a `Map`', () => {
  // Few numbers that are far apart, so that many of them belong at the same place.
  const key = fc.oneof(
    fc.integer({ min: 1, max: 24 }),
    fc.nat(20).map((n) => 16 * n + 15),
    fc.constant(2 ** 31 - 1),
  )
  const changes = fc.array(fc.tuple(fc.constantFrom('set', 'set', 'delete'), key, fc.nat(9)), { maxLength: 200 })
  fc.assert(
    fc.property(changes, (list) => {
      const [table, model] = [new NumberTable<number>(), new Map<number, number>()]
      for (const [change, number, value] of list) {
        if (change === 'set') {
          table.set(number, value)
          model.set(number, value)
        } else assert.equal(table.delete(number), model.delete(number))
        assert.equal(table.size, model.size)
        for (const each of [number, 1, 15, 31]) assert.equal(table.get(each), model.get(each))
      }
      const sorted = [...model].toSorted(([one], [other]) => one - other)
      assert.deepEqual(
        table.list(),
        sorted.map(([, value]) => value),
      )
    }),
  )
})

test('an empty table has nothing, and can be used again', () => {
  const table = new NumberTable<string>()
  assert.equal(table.get(1), undefined)
  assert.equal(table.delete(1), false)
  table.set(1, 'one')
  table.clear()
  assert.deepEqual([table.size, table.get(1), table.list()], [0, undefined, []])
  table.set(3, 'three')
  assert.deepEqual(table.list(), ['three'])
})
