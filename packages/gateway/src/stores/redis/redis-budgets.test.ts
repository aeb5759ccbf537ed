import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { budgetOf, describeBudgets } from '../testing/budget-contract.ts'
import { noRedis, useRedis } from '../testing/redis-server.ts'
import { createBudgetScripts } from './budget-scripts.ts'
import { connectRedis } from './connect.ts'
import { RedisBudgets } from './redis-budgets.ts'

const TEST_TIME = `{redis.call('GET', 'now'), 0}`

describeBudgets(
  'Redis',
  async (t) => {
    const server = await useRedis(t)
    const scripts = createBudgetScripts(TEST_TIME)
    const control = connectRedis(server.settings, scripts)
    t.after(() => control.close())
    const stores: RedisBudgets[] = []
    return {
      tooManyKeys: 3,
      open() {
        const client = connectRedis(server.settings, scripts)
        // The clocks of the gateways are wrong.
        const clock = (): number => stores.length * 1e9
        const store = new RedisBudgets({
          ...{ client, prefix: 'test', failsOpen: false, scripts, clock },
          ...{ record() {}, report() {}, lost() {} },
        })
        stores.push(store)
        t.after(() => store.close(1_000))
        return store
      },
      async setClock(now) {
        await control.call(['SET', 'now', String(now / 1000)])
      },
      settled: async () => void (await Promise.all(stores.map((store) => store.settled()))),
    }
  },
  noRedis,
)

describe('a reservation in Redis', { skip: noRedis }, () => {
  test('is given back when the answer came too late', async (t) => {
    const server = await useRedis(t)
    const client = connectRedis({ ...server.settings, timeoutMs: 100 })
    const parts = { prefix: 'test', failsOpen: false, clock: Date.now, record() {}, report() {}, lost() {} }
    const store = new RedisBudgets({ ...parts, client })
    t.after(() => store.close(500))
    const budget = budgetOf(100)
    const open = () => store.open([{ budget, key: 'all' }])
    let first = open()
    while ((await first.check()) !== null) first = open()
    server.pause()
    const late = open()
    assert.deepEqual(await late.reserve([100]), { kind: 'unavailable' })
    late.settle([0])
    server.resume()
    await store.settled()
    let next = await open().reserve([100])
    while (next?.kind === 'unavailable') next = await open().reserve([100])
    assert.equal(next, null)
  })

  test('that was settled twice counts once, and cannot be made after that', async (t) => {
    const server = await useRedis(t)
    const scripts = createBudgetScripts()
    const client = connectRedis(server.settings, scripts)
    t.after(() => client.close())
    const run = async (script: keyof typeof scripts, keys: readonly string[], ...values: (string | number)[]) =>
      client.call(['EVALSHA', scripts[script].sha, String(keys.length), ...keys, ...values.map(String)])
    const end = Date.now() + 1e9
    const reserve = ['id', 'new', 1, 60, 100, 0, end, 1, 0]
    for (let turn = 0; turn < 2; turn++) assert.equal(await run('settle', ['done', 'share'], 'id', 1, 10, end, 0), 1)
    const late = await run('reserve', ['pulse', 'done', 'share', 'keys'], ...reserve)
    assert.equal(Array.isArray(late) && late[0], 'done')
    assert.deepEqual(await client.call(['HMGET', 'share', 's', 'r']), ['10', '0'])
  })

  test('survives an absence of the server that is longer than its lease', async (t) => {
    const server = await useRedis(t)
    const scripts = createBudgetScripts(TEST_TIME)
    const client = connectRedis(server.settings, scripts)
    const parts = { prefix: 'test', failsOpen: false, scripts, record() {}, report() {}, lost() {} }
    const store = new RedisBudgets({ ...parts, client, clock: Date.now })
    t.after(() => store.close(500))
    const setClock = (now: number) => client.call(['SET', 'now', String(now / 1000)])
    const budget = budgetOf(100)
    const open = () => store.open([{ budget, key: 'all' }])
    const noon = Date.parse('2100-11-18T12:00:00Z')
    await setClock(noon)
    const held = open()
    assert.equal(await held.reserve([100]), null)
    // Nobody could renew the lease in this time.
    await setClock(noon + 3_600_000)
    assert.equal((await open().reserve([1]))?.kind, 'exceeded')
    held.renew()
    await setClock(noon + 3_600_000 + 20_000)
    held.renew()
    await setClock(noon + 3_600_000 + 35_000)
    assert.equal((await open().reserve([1]))?.kind, 'exceeded')
  })
})
