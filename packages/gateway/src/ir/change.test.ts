import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { applyChange, changeBetween, EMPTY_IR } from './change.ts'
import type { Backend, Ir } from './resources.ts'

function irOf(backends: readonly (readonly [key: string, port: number])[]): Ir {
  const make = ([key, port]: readonly [string, number]): Backend => ({
    key,
    name: key,
    target: { kind: 'static', host: 'h', port },
  })
  return { ...EMPTY_IR, backends: backends.map(make) }
}

const lists = fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), fc.nat(2)), {
  selector: ([key]) => key,
})

test('a change makes the new config of the old one, and keeps every object that did not change', () => {
  fc.assert(
    fc.property(lists, lists, (one, other) => {
      const [before, after] = [irOf(one), irOf(other)]
      const change = changeBetween(before, after)
      assert.ok(change !== null)
      const { ir, came, gone } = applyChange(before, structuredClone(change))
      assert.deepEqual(ir, after)
      const kept = ir.backends.filter((backend) => before.backends.includes(backend))
      assert.equal(kept.length + came.backends.length, after.backends.length)
      assert.equal(kept.length + gone.backends.length, before.backends.length)
    }),
    { numRuns: 3_000 },
  )
})

test('only what differs is in a change', () => {
  const many = Array.from({ length: 100 }, (_, index): [string, number] => [`b${index}`, 1])
  const sizes = (after: Ir) => {
    const { put, drop } = changeBetween(irOf(many), after)!.backends
    return [put.map(({ resource, after: place }) => [resource.key, place]), drop]
  }
  assert.deepEqual(sizes(irOf(many)), [[], []])
  assert.deepEqual(sizes(irOf(many.with(7, ['b7', 2]))), [[['b7', 'b6']], []])
  assert.deepEqual(sizes(irOf([['new', 1], ...many])), [[['new', null]], []])
  assert.deepEqual(sizes(irOf(many.slice(1))), [[], ['b0']])
  assert.deepEqual(sizes(irOf([many.at(-1)!, ...many.slice(0, -1)])), [[['b99', null]], []])
  assert.deepEqual(sizes(irOf([...many.slice(1), many[0]!])), [[['b0', 'b99']], []])
})

test('the order of keys in a resource counts', () => {
  const labels = (map: Record<string, string>) =>
    ({ ...EMPTY_IR, backends: [{ key: 'b', name: 'b', target: map }] }) as unknown as Ir
  const change = changeBetween(labels({ a: '1', b: '2' }), labels({ b: '2', a: '1' }))
  assert.equal(change?.backends.put.length, 1)
})

test('keys that are not unique ask for the whole', () => {
  const twice = irOf([
    ['a', 1],
    ['a', 2],
  ])
  assert.equal(changeBetween(EMPTY_IR, twice), null)
  const more = { ...twice, backends: [...twice.backends, ...irOf([['b', 1]]).backends] }
  assert.equal(changeBetween(twice, more), null)
  assert.equal(changeBetween(twice, EMPTY_IR), null)
})

test('keys that are not unique are found in every config of a row, each made of the one before', () => {
  const anyLists = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.nat(1)), { maxLength: 5 })
  const isUnique = ({ backends }: Ir): boolean => new Set(backends.map(({ key }) => key)).size === backends.length
  fc.assert(
    fc.property(fc.array(anyLists, { minLength: 2, maxLength: 8 }), (row) => {
      let before = EMPTY_IR
      for (const after of row.map(irOf)) {
        const isSame = JSON.stringify(before) === JSON.stringify(after)
        assert.equal(changeBetween(before, after) === null, !isSame && !(isUnique(before) && isUnique(after)))
        before = after
      }
    }),
    { numRuns: 3_000 },
  )
})
