import assert from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import { eventually } from '../../testing/process.ts'
import {
  describeKeyStore,
  keyOf,
  priceOf,
  putKey,
  putPrice,
  putTeam,
  removeKey,
  teamOf,
} from '../testing/key-store-contract.ts'
import { noPostgres, PostgresServer } from '../testing/postgres-server.ts'
import { PostgresKeyStore } from './postgres-key-store.ts'

const START = { id: 0, mark: '' }

describe('keys in a PostgreSQL database', { skip: noPostgres }, () => {
  let server: PostgresServer
  before(async () => {
    server = await PostgresServer.create()
  })
  after(() => server.remove())

  const useStore = (t: TestContext, changed = (): void => {}) => {
    const settings = server.settings()
    const stop = new AbortController()
    t.after(() => stop.abort())
    return () => PostgresKeyStore.open(settings, { signal: stop.signal, changed })
  }
  describeKeyStore('PostgreSQL', useStore)

  test('change one after the other, when many gateways change them at once', async (t) => {
    const open = useStore(t)
    const stores = await Promise.all(Array.from({ length: 6 }, open))
    const put = async (store: PostgresKeyStore, name: string): Promise<void> => {
      for (;;) {
        try {
          return await putKey(store, keyOf(name))
        } catch (error) {
          assert.match((error as Error).message, /changed meanwhile/)
        }
      }
    }
    await Promise.all(stores.map((store, i) => put(store, `k${i}`)))
    const ids = (await stores[0]!.audit(Number.MAX_SAFE_INTEGER, 99)).map(({ id }) => id)
    assert.deepEqual(ids, [6, 5, 4, 3, 2, 1])
    assert.equal((await stores[0]!.keys({ after: '', limit: 99, team: null })).length, 6)
  })

  test('are read by other gateways as they are after a number of changes', async (t) => {
    const store = await useStore(t)()
    const bot = keyOf('bot')
    await putKey(store, bot)
    await putTeam(store, teamOf('support'))
    const price = priceOf('m', 5)
    for (const name of ['openai/m', 'openai/gone']) await putPrice(store, name, { ...price, name })
    await putPrice(store, 'openai/gone', null)
    const middle = await store.cursor()
    await putKey(store, { ...bot, secrets: [{ ...bot.secrets[0]!, hash: 'ab'.repeat(32) }] })
    await removeKey(store, 'bot')
    const all = await store.changesAfter(START)
    assert.deepEqual([...(all?.keys ?? [])], [['bot', null]])
    assert.deepEqual([...(all?.teams ?? [])], [['support', teamOf('support')]])
    const prices = [
      ['openai/m', price],
      ['openai/gone', null],
    ]
    assert.deepEqual([...(all?.prices ?? [])], prices)
    assert.deepEqual(all?.ended, [bot.secrets[0]!.hash, 'ab'.repeat(32)])
    assert.deepEqual(all?.cursor, await store.cursor())
    const late = await store.changesAfter(middle)
    assert.deepEqual([[...(late?.keys ?? [])], late?.teams.size, late?.hasMore], [[['bot', null]], 0, false])
    const none = await store.changesAfter(late!.cursor)
    assert.deepEqual([none?.keys.size, none?.cursor], [0, late!.cursor])
  })

  test('that are another list of changes are found out', async (t) => {
    const [one, two] = [await useStore(t)(), await useStore(t)()]
    for (const store of [one, two]) for (const name of ['a', 'b']) await putKey(store, keyOf(name))
    assert.equal(await two.changesAfter(await one.cursor()), null)
    assert.equal(await one.changesAfter({ ...(await one.cursor()), id: 7 }), null)
  })

  test('are read in portions after many changes', async (t) => {
    const open = useStore(t)
    const store = await open()
    const schema = `test_${Number(/\d+$/.exec(server.settings().schema)?.[0]) - 1}`
    await putKey(store, keyOf('first'))
    await server.run(`INSERT INTO ${schema}.audit (id, kind, name, ended, entry)
      SELECT 1 + n, 'key', 'k' || n, '[]', '{}' FROM generate_series(1, 2500) AS n`)
    const sizes: number[] = []
    for (let cursor = START, hasMore = true; hasMore;) {
      const changes = await store.changesAfter(cursor)
      sizes.push(changes?.keys.size ?? 0)
      ;({ cursor, hasMore } = changes!)
    }
    assert.deepEqual(sizes, [1_000, 1_000, 501])
  })

  test('notify other gateways with the same schema, and no others', async (t) => {
    let [own, foreign] = [0, 0]
    const open = useStore(t, () => (own += 1))
    const [one] = [await open(), await open(), await useStore(t, () => (foreign += 1))()]
    await putKey(one, keyOf('bot'))
    await eventually('both connections are notified', () => own === 2)
    assert.equal(foreign, 0)
  })
})
