import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { SessionTable } from './session-table.ts'

test('the table has the sessions of a plain map, and counts them by address', () => {
  const source = fc.tuple(fc.constantFrom('10.0.0.1', '10.0.0.2', '::1'), fc.integer({ min: 1, max: 4 }))
  const change = fc.tuple(fc.boolean(), source)
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const table = new SessionTable<string>()
      const model = new Map<string, string>()
      for (const [isAdded, [address, port]] of changes) {
        const name = `${address} ${port}`
        if (!isAdded) {
          table.delete(address, port)
          model.delete(name)
        } else if (model.has(name)) assert.throws(() => table.add(address, port, name))
        else {
          table.add(address, port, name)
          model.set(name, name)
        }
        assert.equal(table.get(address, port), model.get(name))
        assert.equal(table.size, model.size)
        assert.equal(table.countOf(address), [...model.keys()].filter((key) => key.startsWith(`${address} `)).length)
        assert.deepEqual(new Set(table.list()), new Set(model.values()))
      }
    }),
    { seed: 1, numRuns: 200 },
  )
})
