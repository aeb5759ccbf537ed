import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AttachedPolicy } from '@portico/gateway/ir'
import * as fc from 'fast-check'
import { cutSize, MOST_KEYS, shareKeys } from './key-shares.ts'

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

type RateLimit = NonNullable<NonNullable<AttachedPolicy['traffic']>['rateLimit']>
type LocalLimit = NonNullable<RateLimit['local']>[number]

const limit = { requests: 5, unit: 'Seconds', burst: 0 } as const satisfies LocalLimit
const keyed = { ...limit, key: 'source.address' } as const satisfies LocalLimit

/** Returns the policy with other rate limits. */
function withLimits(of: AttachedPolicy, rateLimit: RateLimit): AttachedPolicy {
  return { ...of, traffic: { ...of.traffic, rateLimit } }
}

/** Policies of one namespace that leave 1000 keys for each of 3500 limits. */
const CROWD = Array.from({ length: 3499 }, (_, index) => policy('a', index, 2000))

/** Returns what a policy gets beside the crowd, whose limits are cut to 1000 keys. */
function besideTheCrowd(rateLimit: RateLimit): { asked: AttachedPolicy; given: AttachedPolicy } {
  const asked = withLimits(policy('a', CROWD.length, 0), rateLimit)
  const given = shareKeys([...CROWD, asked]).at(-1)
  assert.ok(given !== undefined)
  return { asked, given }
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

test('namespaces whose limits fill the memory exactly are left alone', () => {
  const policies = [
    policy('a', 0, 1_000_000),
    ...[1_000_000, 1_000_000, 500_000].map((size, n) => policy('b', n, size)),
  ]
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

test('a limit without a size asks for 10 000 keys, and refuses new keys when its table was cut', () => {
  const { asked, given } = besideTheCrowd({ local: [keyed] })
  const keys = { size: 1000, failureMode: 'FailClosed' }
  assert.deepEqual(given.traffic?.rateLimit, { local: [{ ...keyed, keys }] })
  assert.equal(cutSize(asked, given), 1000)
})

test('beside a limit that is cut, one without keys and one that is small enough stay as they are', () => {
  const small = { ...keyed, keys: { size: 7, failureMode: 'FailOpen' as const } }
  const { given } = besideTheCrowd({ local: [limit, small, keyed] })
  const [first, second, third] = given.traffic?.rateLimit?.local ?? []
  assert.deepEqual([first, second], [limit, small])
  assert.ok((third?.keys?.size ?? 0) < 10_000)
})

test('limits under conditions are counted and cut like others, and keep their conditions', () => {
  const global = { policy: {}, condition: 'request.path == "/a"' }
  const { asked, given } = besideTheCrowd({ conditional: [global, { policy: { local: [keyed] } }] })
  const keys = { size: 1000, failureMode: 'FailClosed' }
  assert.deepEqual(given.traffic?.rateLimit, { conditional: [global, { policy: { local: [{ ...keyed, keys }] } }] })
  assert.equal(cutSize(asked, given), 1000)
})

test('a policy that was not cut has no size of its tables to report', () => {
  const asked = policy('a', 0, 500)
  const [given] = shareKeys([asked, ...CROWD, policy('a', 1, 5000)])
  assert.ok(given !== undefined)
  assert.equal(cutSize(asked, given), null)
  assert.equal(cutSize(asked, { ...asked }), null)
})
