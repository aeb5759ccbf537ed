import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import {
  type AuditEntry,
  type KeyStore,
  StaleChange,
  type StoredKey,
  type StoredPrice,
  type StoredTeam,
} from '../key-store.ts'

/** Opens an empty store; a second call in the same test opens the same data again. */
type OpenStore = (t: TestContext) => () => Promise<KeyStore>

const AT = '2026-11-19T12:00:00.000Z'

export function keyOf(name: string, fields: StoredKey['fields'] = {}, others: Partial<StoredKey> = {}): StoredKey {
  const secrets = [
    { hash: Buffer.from(name).toString('hex').padEnd(64, '0').slice(0, 64), prefix: 'pk_live_', created: AT },
  ]
  return { id: `id-${name}`, name, fields, secrets, created: AT, changed: AT, ...others }
}

export function teamOf(name: string, fields: StoredTeam['fields'] = {}): StoredTeam {
  return { id: `id-${name}`, name, fields, created: AT, changed: AT }
}

function entryOf(kind: AuditEntry['kind'], name: string, after: object | null): AuditEntry {
  return { at: AT, by: 'a test', action: after === null ? 'delete' : 'create', kind, name, before: null, after }
}

/** Stores a key as it is now, at the newest version. */
export async function putKey(store: KeyStore, key: StoredKey): Promise<void> {
  const [from, version] = [await store.key(key.name), await store.version()]
  await store.commit({ kind: 'key', name: key.name, from, to: key }, entryOf('key', key.name, key), version)
}

export async function putTeam(store: KeyStore, team: StoredTeam): Promise<void> {
  const change = { kind: 'team', name: team.name, to: team } as const
  await store.commit(change, entryOf('team', team.name, team), await store.version())
}

export async function removeKey(store: KeyStore, name: string): Promise<void> {
  const [from, version] = [await store.key(name), await store.version()]
  await store.commit({ kind: 'key', name, from, to: null }, entryOf('key', name, null), version)
}

export function priceOf(model: string, input: number): StoredPrice {
  return { name: `openai/${model}`, price: { provider: 'openai', model, rates: { input }, tiers: [] }, changed: AT }
}

/** Sets a price, or removes it with null. */
export async function putPrice(store: KeyStore, name: string, to: StoredPrice | null): Promise<void> {
  await store.commit({ kind: 'price', name, to }, entryOf('price', name, to), await store.version())
}

/** The tests that every adapter for keys must pass. */
export function describeKeyStore(name: string, useStore: OpenStore): void {
  describe(`keys in ${name}`, () => {
    test('are found by name, and stay when the store is opened again', async (t) => {
      const open = useStore(t)
      const first = await open()
      assert.deepEqual([await first.key('bot'), await first.team('support')], [null, null])
      const key = keyOf('bot', { owner: 'Ann \0 \ud83d', team: 'support', tags: { a: 'ä"\\' } })
      await putTeam(first, teamOf('support', { parent: 'company' }))
      await putKey(first, key)
      await first.close()
      const second = await open()
      assert.deepEqual(await second.key('bot'), key)
      assert.deepEqual(await second.team('support'), teamOf('support', { parent: 'company' }))
      await putKey(second, { ...key, fields: {}, secrets: [], revoked: AT })
      assert.deepEqual(await second.key('bot'), { ...key, fields: {}, secrets: [], revoked: AT })
      await removeKey(second, 'bot')
      assert.equal(await second.key('bot'), null)
      await second.close()
    })

    test('are listed by pages in the order of their bytes, also those of one team', async (t) => {
      const store = await useStore(t)()
      for (const each of ['b', 'B', 'a-b', 'ab', 'a_b', 'é'])
        await putKey(store, keyOf(each, each === 'ab' ? {} : { team: 't' }))
      const names = async (page: { after: string; limit: number; team: string | null }) =>
        (await store.keys(page)).map((key) => key.name)
      assert.deepEqual(await names({ after: '', limit: 9, team: null }), ['B', 'a-b', 'a_b', 'ab', 'b', 'é'])
      assert.deepEqual(await names({ after: 'a-b', limit: 2, team: null }), ['a_b', 'ab'])
      assert.deepEqual(await names({ after: 'a_b', limit: 9, team: 't' }), ['b', 'é'])
      for (const each of ['y', 'X']) await putTeam(store, teamOf(each))
      assert.deepEqual(
        (await store.teams()).map((team) => team.name),
        ['X', 'y'],
      )
      await store.close()
    })

    test('have prices beside them, which stay when the store is opened again', async (t) => {
      const open = useStore(t)
      const first = await open()
      assert.deepEqual(await first.prices(), [])
      const [large, small] = [priceOf('large "é"', 7), priceOf('small', 1)]
      await putPrice(first, small.name, small)
      await putPrice(first, large.name, priceOf('large "é"', 6))
      await putPrice(first, large.name, large)
      await first.close()
      const second = await open()
      assert.deepEqual(await second.prices(), [large, small])
      assert.deepEqual((await second.audit(Number.MAX_SAFE_INTEGER, 1))[0]?.kind, 'price')
      await putPrice(second, large.name, null)
      assert.deepEqual(await second.prices(), [small])
      assert.deepEqual([await second.key('small'), await second.teams()], [null, []])
      await second.close()
    })

    test('leave an entry of each change, counted by one', async (t) => {
      const store = await useStore(t)()
      const start = await store.version()
      for (const each of ['a', 'b', 'c']) await putKey(store, keyOf(each))
      await removeKey(store, 'a')
      const entries = await store.audit(Number.MAX_SAFE_INTEGER, 3)
      assert.deepEqual(
        entries.map(({ id, action, name }) => [id, action, name]),
        [
          [start + 4, 'delete', 'a'],
          [start + 3, 'create', 'c'],
          [start + 2, 'create', 'b'],
        ],
      )
      assert.deepEqual(
        (await store.audit(start + 2, 9)).map((entry) => entry.name),
        ['a'],
      )
      assert.equal(await store.version(), start + 4)
      await store.close()
    })

    test('are not changed by a change that was prepared at an older version', async (t) => {
      const open = useStore(t)
      const [one, two] = [await open(), await open()]
      await putKey(one, keyOf('bot'))
      const [from, version] = [await two.key('bot'), await two.version()]
      await putKey(one, { ...keyOf('bot'), secrets: [], revoked: AT })
      const late = { kind: 'key', name: 'bot', from, to: keyOf('bot', { owner: 'ann' }) } as const
      await assert.rejects(async () => two.commit(late, entryOf('key', 'bot', late.to), version), StaleChange)
      assert.deepEqual(await two.key('bot'), { ...keyOf('bot'), secrets: [], revoked: AT })
      assert.deepEqual((await one.audit(Number.MAX_SAFE_INTEGER, 9)).length, 2)
      await one.close()
      await two.close()
    })
  })
}
