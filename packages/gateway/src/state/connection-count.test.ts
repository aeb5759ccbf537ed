import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionCount, workerIndexCount } from './connection-count.ts'
import { createTable, SharedTable } from './shared-table.ts'

function countOf(counters: SharedTable, own: number | null, all = 2): ConnectionCount {
  const count = ConnectionCount.create('bind/1', { own, all }, { counters, monotonic: () => 0 })
  assert.ok(count !== null)
  return count
}

test('workers count together, and nobody enters beyond the limit', () => {
  const table = new SharedTable(createTable(64))
  const [a, b] = [countOf(table, 0), countOf(table, 1)]
  assert.deepEqual([a.enter(2), b.enter(2), a.enter(2), b.enter(2)], [true, true, false, false])
  assert.deepEqual([a.total, b.total], [2, 2])
  a.add(-1)
  assert.deepEqual([b.enter(2), b.enter(2), a.total], [true, false, 2])
})

test('the successor of a dead worker starts at zero, and leaves the other counts unchanged', () => {
  const table = new SharedTable(createTable(64))
  const [a, b] = [countOf(table, 0), countOf(table, 1)]
  a.add(5)
  b.add(3)
  assert.equal(countOf(table, 0).total, 3)
  assert.equal(b.total, 3)
})

test('a thread that only reserves room clears no count', () => {
  const table = new SharedTable(createTable(64))
  countOf(table, 0).add(5)
  assert.equal(countOf(table, null).total, 5)
})

test('a table without room says so', () => {
  const table = new SharedTable(createTable(2))
  assert.equal(ConnectionCount.create('x', { own: null, all: 3 }, { counters: table, monotonic: () => 0 }), null)
})

test('a table with room for one word of each worker has room enough', () => {
  const table = new SharedTable(createTable(2))
  assert.equal(countOf(table, 1).enter(1), true)
})

test('there is one seat more than workers, for a worker that is being replaced', () => {
  assert.equal(workerIndexCount(4), 5)
})
