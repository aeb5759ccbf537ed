import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AttachedPolicy } from '@portico/gateway/ir'
import * as fc from 'fast-check'
import { MOST_KEYS, shareKeys } from './key-shares.ts'

function policy(namespace: string, index: number, size: number): AttachedPolicy {
  const local = [
    {
      requests: 5,
      unit: 'Seconds' as const,
      burst: 0,
      key: 'source.address',
      keys: { size, failureMode: 'FailOpen' as const },
    },
  ]
  return {
    key: `policy/${namespace}/limit@route/${index}`,
    target: { kind: 'route', key: String(index) },
    frontend: null,
    traffic: { rateLimit: { local } },
    phase: 'PostRouting',
    backend: null,
  }
}

const sizesOf = (policies: readonly AttachedPolicy[]): number[] =>
  policies.map(({ traffic }) => {
    const limits = traffic?.rateLimit as { local: { keys: { size: number } }[] } | undefined
    return limits?.local[0]?.keys.size ?? 0
  })

test('limits that fit together are left alone', () => {
  const policies = [policy('a', 0, 1_000_000), policy('b', 1, 10_000)]
  assert.deepEqual(shareKeys(policies), policies)
})

test('one policy on 401 routes keeps a table for each', () => {
  const sizes = sizesOf(shareKeys(Array.from({ length: 401 }, (_, index) => policy('a', index, 10_000))))
  assert.equal(new Set(sizes).size, 1)
  assert.equal(sizes[0], Math.floor(MOST_KEYS / 401))
})

test('a namespace that requests too much is cut, and no other', () => {
  const greedy = Array.from({ length: 50 }, (_, index) => policy('a', index, 1_000_000))
  const [own] = sizesOf(shareKeys([...greedy, policy('b', 99, 1_000_000)]).slice(-1))
  assert.equal(own, 1_000_000)
})

test('for any policies the tables fit, and each limit gets at least one key and at most its request', () => {
  const any = fc.record({ namespace: fc.constantFrom('a', 'b', 'c'), size: fc.integer({ min: 1, max: 1_000_000 }) })
  fc.assert(
    fc.property(fc.array(any, { maxLength: 60 }), (wanted) => {
      const policies = wanted.map(({ namespace, size }, index) => policy(namespace, index, size))
      const given = sizesOf(shareKeys(policies))
      assert.ok(given.reduce((sum, size) => sum + size, 0) <= MOST_KEYS)
      given.forEach((size, index) => assert.ok(size >= 1 && size <= (wanted[index]?.size ?? 0)))
      // A namespace within its share keeps its request, whatever the others request.
      for (const namespace of ['a', 'b', 'c']) {
        const own = wanted.filter((each) => each.namespace === namespace)
        if (own.reduce((sum, { size }) => sum + size, 0) > MOST_KEYS / 3) continue
        wanted.forEach((each, index) => each.namespace === namespace && assert.equal(given[index], each.size))
      }
    }),
    { numRuns: 300 },
  )
})
