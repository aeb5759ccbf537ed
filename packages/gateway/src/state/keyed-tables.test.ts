import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GivenTables, KeptTables, MOST_KEYS } from './keyed-tables.ts'

test('the same name and size give the same table, from one config to the next', () => {
  const tables = new KeptTables()
  const first = tables.keyed('a', 10)
  assert.ok(first !== null)
  assert.equal(tables.keyed('a', 10), first)
  assert.notEqual(tables.keyed('a', 11), first)
  assert.notEqual(tables.keyed('b', 10), first)
  tables.keep()
  assert.equal(tables.keyed('a', 10), first)
  // A rejected config changes nothing.
  tables.drop()
  assert.equal(tables.keyed('a', 10), first)
})

test('a table that the live config does not ask for is let go', () => {
  const tables = new KeptTables()
  const first = tables.keyed('a', 10)
  tables.keep()
  tables.keyed('b', 10)
  tables.keep()
  assert.equal(tables.all.size, 1)
  assert.notEqual(tables.keyed('a', 10), first)
})

test('tables of a partial reload are kept beside the others, until they exceed the limit of one config', () => {
  const tables = new KeptTables()
  tables.keyed('a', MOST_KEYS / 2)
  tables.keep()
  tables.keyed('b', MOST_KEYS / 2)
  assert.equal(tables.all.size, 2)
  tables.keepAlso()
  assert.equal(tables.hasLeftovers, false)
  tables.keyed('c', 1)
  tables.keepAlso()
  assert.equal(tables.hasLeftovers, true)
  tables.keyed('c', 1)
  tables.keep()
  assert.equal(tables.hasLeftovers, false)
})

test('a config cannot ask for more than there may be', () => {
  const tables = new KeptTables()
  assert.notEqual(tables.keyed('a', MOST_KEYS), null)
  assert.equal(tables.keyed('b', 1), null)
  assert.notEqual(tables.keyed('a', MOST_KEYS), null)
})

test('a worker has the tables that it was given', () => {
  const kept = new KeptTables()
  const table = kept.keyed('a', 10)
  const given = new GivenTables()
  assert.equal(given.keyed('a', 10), null)
  given.take(structuredClone(kept.all))
  const seen = given.keyed('a', 10)
  assert.ok(seen !== null && table !== null)
  new Uint8Array(table)[0] = 7
  assert.equal(new Uint8Array(seen)[0], 7)
})
