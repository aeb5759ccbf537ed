import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { changeLine, diffStates, leavesOf } from './state-diff.ts'

test('changes have their path', () => {
  const before = { request: { path: '/api', headers: { a: '1', authorization: 'x' } }, list: [1, 2] }
  const after = { request: { path: '/', headers: { a: '1', 'x.b': '2' } }, list: [1] }
  assert.deepEqual(diffStates(before, after).map(changeLine), [
    '- list[1]: 2',
    '- request.headers.authorization: "x"',
    '+ request.headers["x.b"]: "2"',
    '~ request.path: "/api" → "/"',
  ])
})

test('without a state before, everything is new', () => {
  assert.deepEqual(diffStates(undefined, { a: {} }).map(changeLine), ['+ a: {}'])
  assert.deepEqual(diffStates(undefined, undefined), [])
  assert.deepEqual(diffStates(1, 2).map(changeLine), ['~ (all): 1 → 2'])
})

test('the changes lead from one state to the other', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
      const leaves = leavesOf(before)
      for (const change of diffStates(before, after)) {
        assert.equal(leaves.get(change.path), change.before)
        if (change.after === undefined) leaves.delete(change.path)
        else leaves.set(change.path, change.after)
      }
      const byPath = (entries: Map<string, string>) => [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1))
      assert.deepEqual(byPath(leaves), byPath(leavesOf(after)))
      assert.deepEqual(diffStates(before, before), [])
    }),
  )
})

test('deep nesting is compared too', () => {
  const deep = (end: string) => JSON.parse(`${'[1,'.repeat(10_000)}${end}${']'.repeat(10_000)}`) as unknown
  assert.ok(diffStates(deep('1'), deep('2')).length <= 1)
})
