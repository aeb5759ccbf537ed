import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import { LlmRecord } from '../records/llm-record.ts'
import { CachedCall } from './cached-call.ts'
import type { CacheableRequest, ProviderCache } from './provider-cache.ts'
import { SharedCall } from './shared-call.ts'

const FAULT = new Error('a fault of the gateway')
const throwing = (): never => {
  throw FAULT
}

/**
 * Creates a cache in which the first request, the leader, calls the provider, and others wait for its response.
 * `search` is the leader's search for a similar request.
 */
function setUp(search: () => unknown) {
  let open: SharedCall | null = null
  const lead = () => {
    open = new SharedCall({
      room: { take: () => true, giveBack() {} } as never,
      closed: () => (open = null),
      store() {},
    })
    return { kind: 'lead', call: open }
  }
  const cache = {
    uses: {},
    read: () => ({ control: { maxAgeMs: Infinity } }),
    find: () => (open === null ? lead() : { kind: 'follow', call: open }),
    findSimilar: () => search(),
  } as unknown as ProviderCache
  const call = (ask: () => void) => {
    const faults: unknown[] = []
    const rx = { runner: { faulted: (error: unknown) => faults.push(error) }, trace: null } as unknown as RequestContext
    const record = { providerName: 'p' } as unknown as LlmRecord
    const own = new CachedCall(cache, { rx, record }, { ask, answer: throwing, isCurrent: () => true })
    return { faults, begin: () => own.begin({} as CacheableRequest) }
  }
  return { call }
}

describe('a leader that ends with an exception frees its followers', () => {
  test('while it asks the provider', () => {
    const { call } = setUp(() => null)
    let asked = 0
    const follower = call(() => (asked += 1))
    const leader = call(() => {
      follower.begin()
      throwing()
    })
    assert.throws(() => leader.begin(), FAULT)
    assert.equal(asked, 1)
  })

  for (const [name, search] of [
    ['fails', () => Promise.reject(FAULT)],
    ['finds nothing, and the call to the provider fails', () => Promise.resolve({ answer: null, search: {} })],
  ] as const) {
    test(`when its search for a similar request ${name}`, async () => {
      const { call } = setUp(search)
      const leader = call(throwing)
      leader.begin()
      const asked = Promise.withResolvers<void>()
      call(() => asked.resolve()).begin()
      await asked.promise
      await new Promise(setImmediate)
      assert.deepEqual(leader.faults, [FAULT])
    })
  }
})
