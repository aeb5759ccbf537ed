import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { connectRedis } from '../../stores/redis/connect.ts'
import { createBudgetScripts } from '../../stores/redis/budget-scripts.ts'
import { RedisBudgets } from '../../stores/redis/redis-budgets.ts'
import { noRedis, useRedis } from '../../stores/testing/redis-server.ts'
import { simulateBudgets } from './budget-simulation.ts'
import { memoryStores } from './memory-stores.ts'
import { memoryTable } from './memory-table.ts'
import { FULL_SIZE, runScenarios } from './sizing-table.ts'
import { createWorkload, MOST_OUTPUT } from './workload.ts'

const page = readFileSync(new URL('../../../../../docs/sizing.md', import.meta.url), 'utf8')

test('the page has the memory that tables of keys and budgets take', () => {
  assert.ok(page.includes(`\n${memoryTable()}\n`), `docs/sizing.md needs this table:\n${memoryTable()}`)
})

describe('simulated budgets of many keys', () => {
  const size = { ...FULL_SIZE, keys: 40 }

  test('are overspent only for the reasons that the page names', async () => {
    const [close, far, excess, killed, closed, open, apart, split] = await runScenarios({ ...size, seed: 7 })
    for (const result of [close, far, closed, split]) {
      assert.ok(result !== undefined)
      assert.equal(result.mostOverspent, 0, result.name)
    }
    assert.ok(excess!.mostOverspent > 0)
    assert.ok(killed!.mostOverspent >= 0 && killed!.overspent < 0.02, `${killed!.overspent}`)
    assert.ok(open!.overspent > 0.01)
    // No call is refused, so keys are charged for their whole demand, which is twice the budget plus the last call.
    assert.equal(apart!.passed, 1)
    assert.ok(apart!.overspent > 1 && apart!.mostOverspent < 1.1, `${apart!.overspent}`)
    assert.equal(split!.passed, 0)
  })

  test('are never overspent by calls that cost at most what they reserve', async () => {
    const input = fc.record({
      seed: fc.nat(),
      machines: fc.integer({ min: 1, max: 50 }),
      spare: fc.nat({ max: 4_000 }),
    })
    await fc.assert(
      fc.asyncProperty(input, async ({ seed, machines, spare }) => {
        const calls = createWorkload({ ...size, seed, machines, keys: 3 })
        const rules = { budget: size.budget, reservedOutput: MOST_OUTPUT + spare, tickMs: 1_000 }
        const outcomes = await simulateBudgets(calls, memoryStores({ isShared: true }), rules)
        const sent = [...outcomes.values()].reduce((sum, { passed, refused }) => sum + passed + refused, 0)
        assert.equal(sent, calls.length)
        for (const { charged } of outcomes.values()) assert.ok(charged > 0 && charged <= size.budget, `${charged}`)
      }),
      { numRuns: 50 },
    )
  })

  test('leave more unused when calls reserve more than they use', async () => {
    const [close, far] = await runScenarios(size)
    assert.ok(close!.mostUnused * size.budget < 2 * (500 + MOST_OUTPUT), `${close!.mostUnused}`)
    assert.ok(far!.unused > close!.unused)
  })

  test('are the same with the scripts of Redis', { skip: noRedis }, async (t) => {
    const server = await useRedis(t)
    const scripts = createBudgetScripts(`{redis.call('GET', 'now'), 0}`)
    const control = connectRedis(server.settings, scripts)
    t.after(() => control.close())
    let now = 0
    const stores: RedisBudgets[] = []
    const small = { ...size, keys: 8, machines: 5 }
    const calls = createWorkload(small)
    const rules = { budget: small.budget, reservedOutput: MOST_OUTPUT, tickMs: 5_000 }
    const redis = {
      open() {
        const client = connectRedis(server.settings, scripts)
        const parts = { client, scripts, prefix: 'test', failsOpen: false, clock: () => now }
        const store = new RedisBudgets({ ...parts, record() {}, report() {}, lost: assert.fail })
        stores.push(store)
        t.after(() => store.close(1_000))
        return store
      },
      async setClock(time: number) {
        now = time
        await control.call(['SET', 'now', String(time / 1_000)])
      },
      settled: async () => void (await Promise.all(stores.map((store) => store.settled()))),
    }
    const outcomes = await simulateBudgets(calls, redis, rules)
    assert.deepEqual(outcomes, await simulateBudgets(calls, memoryStores({ isShared: true }), rules))
    assert.ok([...outcomes.values()].every(({ passed, refused }) => passed > 0 && refused > 0))
  })
})
