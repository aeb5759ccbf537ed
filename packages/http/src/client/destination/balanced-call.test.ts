import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { endpointFor } from './balanced-call.ts'

const endpoints = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 12 })

test('a client stays where it is, whatever else comes and goes, in any order', () => {
  fc.assert(
    fc.property(fc.string(), endpoints, fc.integer(), (client, all, at) => {
      const own = endpointFor(client, all)
      assert.ok(own !== undefined && all.includes(own))
      assert.equal(endpointFor(client, all.toReversed()), own)
      const other = all[Math.abs(at) % all.length]
      const left = all.filter((each) => each !== other || each === own)
      assert.equal(endpointFor(client, left), own)
    }),
  )
})

test('clients are spread', () => {
  const all = ['10.0.0.1:80', '10.0.0.2:80', '10.0.0.3:80']
  const counts = new Map<string | undefined, number>()
  for (let index = 0; index < 3000; index++) {
    const own = endpointFor(`192.0.2.${index}`, all)
    counts.set(own, (counts.get(own) ?? 0) + 1)
  }
  for (const endpoint of all) assert.ok(Math.abs((counts.get(endpoint) ?? 0) - 1000) < 150)
})

test('without endpoints there is no choice', () => assert.equal(endpointFor('a', []), undefined))
