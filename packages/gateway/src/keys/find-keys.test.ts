import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { KeyStore, NumberedAuditEntry, StoredKey } from '../stores/key-store.ts'
import { findChanges } from './find-changes.ts'
import { findKeys, KEY_STATES, stateOf } from './find-keys.ts'
import { entryVersion } from './entry-version.ts'

const NOW = '2026-11-19T12:00:00.000Z'
const SEARCH = { after: '', limit: 100, team: null, text: '', state: null }

function keyOf(name: string, fields: StoredKey['fields'] = {}, others: Partial<StoredKey> = {}): StoredKey {
  const secrets = [{ hash: '0'.repeat(64), prefix: `pk_live_${name.slice(0, 4)}`, created: NOW }]
  return { id: `id-${name}`, name, fields, secrets, created: NOW, changed: NOW, ...others }
}

/** A store that can only be read; `reads` counts the entries that it returned. */
function storeOf(keys: readonly StoredKey[], changes: readonly NumberedAuditEntry[] = []) {
  const sorted = keys.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const counted = { reads: 0 }
  const take = <Entry>(entries: readonly Entry[]): readonly Entry[] => {
    counted.reads += entries.length
    return entries
  }
  const never = (): never => assert.fail('the search only lists')
  const store: KeyStore = {
    ...{ key: never, team: never, teams: never, prices: never, version: never, commit: never, close: never },
    keys: ({ after, limit, team }) =>
      take(
        sorted.filter(({ name, fields }) => name > after && (team === null || fields.team === team)).slice(0, limit),
      ),
    audit: (before, limit) => take(changes.filter(({ id }) => id < before).slice(0, limit)),
  }
  return { store, counted }
}

describe('a search for keys', () => {
  const states = {
    active: keyOf('a', { owner: 'Ann Lee', team: 'x' }),
    pending: keyOf('b', { notBefore: '2027-01-01T00:00:00.000Z' }),
    expired: keyOf('c', { expires: NOW }),
    disabled: keyOf('d', { disabled: true, expires: NOW }),
    revoked: keyOf('e', { disabled: true }, { revoked: NOW, secrets: [] }),
  }

  test('knows the state of a key: revoked before disabled before expired', () => {
    for (const state of KEY_STATES) assert.equal(stateOf(states[state], NOW), state)
    assert.equal(stateOf(keyOf('f', { notBefore: NOW }), NOW), 'active')
  })

  test('finds parts of the name, the owner and a prefix in any case, and states', async () => {
    const { store } = storeOf(Object.values(states))
    const names = async (search: object) => {
      const { keys, next } = await findKeys(store, { ...SEARCH, ...search }, NOW)
      assert.equal(next, null)
      return keys.map(({ name }) => name).join('')
    }
    assert.equal(await names({}), 'abcde')
    assert.equal(await names({ text: 'ann L' }), 'a')
    assert.equal(await names({ text: 'PK_LIVE_C' }), 'c')
    assert.equal(await names({ text: '%' }), '')
    assert.equal(await names({ state: 'disabled' }), 'd')
    assert.equal(await names({ state: 'active', team: 'x' }), 'a')
    assert.equal(await names({ after: 'b' }), 'cde')
  })

  test('pages join to the whole list, whatever their size', async () => {
    const list = fc.uniqueArray(fc.stringMatching(/^[a-d]{1,4}$/), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(
        list,
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom('', 'a', 'bc'),
        async (names, limit, text) => {
          const { store } = storeOf(names.map((name) => keyOf(name)))
          const found: string[] = []
          for (let after: string | null = ''; after !== null;) {
            const page: Awaited<ReturnType<typeof findKeys>> = await findKeys(
              store,
              { ...SEARCH, after, limit, text },
              NOW,
            )
            assert.ok(page.keys.length <= limit)
            assert.ok(page.next === null || page.keys.length === limit)
            found.push(...page.keys.map(({ name }) => name))
            after = page.next
          }
          // The prefix contains the letter a of "pk_live_a…" only with the name.
          assert.deepEqual(found, names.filter((name) => name.includes(text)).toSorted())
        },
      ),
    )
  })

  test('reads a bounded number of keys, and says where to go on', async () => {
    const names = Array.from({ length: 25_000 }, (_, i) => `k${String(i).padStart(5, '0')}`)
    const { store, counted } = storeOf(names.map((name) => keyOf(name)))
    const first = await findKeys(store, { ...SEARCH, text: 'k24999' }, NOW)
    assert.deepEqual([first.keys, first.next, counted.reads], [[], 'k19999', 20_000])
    const rest = await findKeys(store, { ...SEARCH, text: 'k24999', after: 'k19999' }, NOW)
    assert.deepEqual([rest.keys.map(({ name }) => name), rest.next], [['k24999'], null])
  })
})

test('changes are found by kind and name, page by page', async () => {
  const changes = Array.from({ length: 2_500 }, (_, i): NumberedAuditEntry => {
    const kind = i % 2 === 0 ? 'key' : 'team'
    return { id: 2_500 - i, at: NOW, by: 'x', action: 'change', kind, name: `n${i % 6}`, before: null, after: null }
  })
  const { store } = storeOf([], changes)
  const all = { before: Number.MAX_SAFE_INTEGER, limit: 100, kind: null, name: null }
  const first = await findChanges(store, { ...all, limit: 2 })
  assert.deepEqual([first.entries.map(({ id }) => id), first.next], [[2_500, 2_499], 2_499])
  const ids: number[] = []
  for (let before: number | null = all.before; before !== null;) {
    const page: Awaited<ReturnType<typeof findChanges>> = await findChanges(store, { ...all, before, name: 'n2' })
    ids.push(...page.entries.map(({ id }) => id))
    before = page.next
  }
  assert.deepEqual(
    ids,
    changes.flatMap(({ id, name }) => (name === 'n2' ? [id] : [])),
  )
  assert.deepEqual((await findChanges(store, { ...all, kind: 'team', name: 'n2' })).entries, [])
})

test('the version of a key is that of its fields', () => {
  const key = keyOf('bot', { owner: 'ann', models: ['m'] })
  const version = entryVersion(key)
  assert.match(version, /^[\w-]{16}$/)
  assert.equal(entryVersion(keyOf('bot', { models: ['m'], owner: 'ann' }, { secrets: [], changed: '2027' })), version)
  for (const other of [
    keyOf('bot', { owner: 'ann' }),
    keyOf('bot', { owner: 'bob', models: ['m'] }),
    { ...key, id: 'of another key with the same name' },
    { ...key, revoked: NOW },
  ])
    assert.notEqual(entryVersion(other), version)
})
