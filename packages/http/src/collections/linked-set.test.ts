import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type Links, LinkedSet } from './linked-set.ts'

class Item implements Links<Item> {
  before: Item | null = null
  after: Item | null = null
  isListed = false
}

test('the set has the items and the order of a `Set`', () => {
  const changes = fc.array(fc.tuple(fc.boolean(), fc.nat(7)), { maxLength: 60 })
  fc.assert(
    fc.property(changes, (list) => {
      const items = Array.from({ length: 8 }, () => new Item())
      const [set, model] = [new LinkedSet<Item>(), new Set<Item>()]
      for (const [isAdded, index] of list) {
        const item = items[index] as Item
        if (isAdded) {
          set.add(item)
          model.add(item)
        } else {
          set.delete(item)
          model.delete(item)
        }
        assert.deepEqual(set.list().map(indexIn(items)), [...model].map(indexIn(items)))
        assert.equal(set.size, model.size)
        assert.equal(set.first, [...model][0] ?? null)
      }
    }),
  )
})

test('a removed item has no neighbours', () => {
  const [one, other, last] = [new Item(), new Item(), new Item()]
  const set = new LinkedSet<Item>()
  for (const item of [one, other, last]) set.add(item)
  set.delete(other)
  assert.deepEqual([other.before, other.after, other.isListed], [null, null, false])
  assert.equal(one.after, last)
  assert.equal(last.before, one)
})

function indexIn(items: readonly Item[]): (item: Item) => number {
  return (item) => items.indexOf(item)
}
