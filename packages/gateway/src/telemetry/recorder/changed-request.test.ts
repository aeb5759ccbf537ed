import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { changedRequest, changeOf } from './changed-request.ts'

const names = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor')
const values = fc.oneof(fc.constantFrom('1', '2'), fc.array(fc.constantFrom('1', '2'), { minLength: 2, maxLength: 3 }))
const heads = fc.array(fc.tuple(names, values), { maxLength: 5 }).map((lines) => Object.fromEntries(lines))

test('a head that is stored as what changed of another is the same when it is read', () => {
  fc.assert(
    fc.property(heads, heads, (came, left) => {
      const change = changeOf(came, left)
      const found = changedRequest(came, JSON.parse(JSON.stringify(change)) ?? undefined)
      assert.deepEqual(new Map(Object.entries(found?.headers ?? came)), new Map(Object.entries(left)))
    }),
  )
})

test('nothing is stored of what stayed', () => {
  assert.equal(changeOf({ a: '1', b: ['1', '2'] }, { b: ['1', '2'], a: '1' }), null)
  assert.deepEqual(changedRequest({ a: '1' }, { path: '/new' }), { path: '/new', headers: null })
})
