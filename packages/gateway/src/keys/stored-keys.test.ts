import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { KeyFields, StoredKey } from '../stores/key-store.ts'
import { keyText, teamHash, teamText } from './table/entry-text.ts'
import { createKeyTable, KEY, OPEN, TEAM } from './table/key-table.ts'
import { KeyTableWriter } from './table/key-table-writer.ts'
import { StoredKeys } from './stored-keys.ts'

const TIME = '2026-11-19T00:00:00.000Z'
const keyOf = (name: string, fields: KeyFields): StoredKey => ({
  ...{ id: `id-${name}`, name, fields, secrets: [], created: TIME, changed: TIME },
})

function useKeys(entries: number) {
  const buffer = createKeyTable(entries)
  const writer = new KeyTableWriter(buffer, entries, OPEN)
  const put = (name: string, fields: KeyFields) => {
    const digest = hash('sha256', `secret of ${name}`)
    const text = keyText(keyOf(name, fields), { hash: digest, prefix: '', created: TIME })
    assert.match(text, /^[\0-\x7f]*$/, 'the table has one byte for each character')
    assert.ok(writer.put(KEY, digest, text))
  }
  const putTeam = (name: string, requests: number) => {
    const team = { id: `id-${name}`, name, fields: { limits: [{ requests }] }, created: TIME, changed: TIME }
    assert.ok(writer.put(TEAM, teamHash(name).toString('hex'), teamText(team)))
    writer.teamsChanged()
  }
  const keys = new StoredKeys(buffer)
  return { keys, put, putTeam, find: (name: string) => keys.find(`secret of ${name}`) }
}

test('a key has all of its fields, in every language', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  const optional = { requiredKeys: [] }
  const fields = fc.record(
    {
      owner: text,
      tags: fc.dictionary(text, text, { maxKeys: 3 }),
      routes: fc.array(text, { minLength: 1, maxLength: 3 }),
      models: fc.array(fc.constantFrom('gpt-5', 'claude-*'), { minLength: 1, maxLength: 2 }),
      limits: fc.constant([{ requests: 10 }]),
      notBefore: fc.constant('2026-01-01T00:00:00.000Z'),
      expires: fc.constant('2027-01-01T00:00:00.000Z'),
      disabled: fc.constant(true as const),
    },
    optional,
  )
  fc.assert(
    fc.property(fc.array(fields, { minLength: 1, maxLength: 5 }), (all) => {
      const { put, find } = useKeys(10)
      for (const [number, each] of all.entries()) put(`k${number}`, each)
      for (const [number, { owner, tags, routes, limits, notBefore, expires, disabled }] of all.entries()) {
        const key = find(`k${number}`) ?? assert.fail('not found')
        const metadata = { ...tags, name: `k${number}`, ...(owner !== undefined && { owner }) }
        assert.deepEqual({ ...key.metadata }, metadata)
        assert.deepEqual(key.routes, routes === undefined ? null : new Set(routes))
        assert.equal(key.notBefore, notBefore === undefined ? -Infinity : Date.parse(notBefore))
        assert.equal(key.expires, expires === undefined ? Infinity : Date.parse(expires))
        assert.equal(key.isDisabled, disabled === true)
        assert.deepEqual([key.id, key.spenders.length], [`id-k${number}`, limits === undefined ? 0 : 1])
      }
    }),
    { numRuns: 200 },
  )
})

test('many keys take a bounded memory, and each stays itself', () => {
  const { keys, put, find } = useKeys(20_000)
  const nameOf = (number: number) => `bot-${number}`
  for (let number = 0; number < 20_000; number++) put(nameOf(number), { limits: [{ requests: (number % 50) + 1 }] })
  let most = 0
  for (let number = 0; number < 20_000; number++) {
    for (let call = 0; call < 3; call++) {
      const key = find(nameOf(number)) ?? assert.fail('not found')
      assert.deepEqual([key.name, key.own.limits?.[0]?.requests], [nameOf(number), (number % 50) + 1])
      most = Math.max(most, keys.cachedBytes)
    }
  }
  assert.ok(most > 2 * 2 ** 20 && most < 5 * 2 ** 20, String(most))
})

test('keys with much text take a bounded memory, too', () => {
  const { keys, put, find } = useKeys(4_000)
  const tags = (number: number) => ({ note: String(number).padEnd(200, 'x') })
  for (let number = 0; number < 4_000; number++) put(`bot-${number}`, { tags: tags(number) })
  let most = 0
  for (let number = 0; number < 4_000; number++) {
    assert.equal(find(`bot-${number}`)?.metadata['note'], tags(number).note)
    most = Math.max(most, keys.cachedBytes)
  }
  assert.ok(most > 2 * 2 ** 20 && most < 5 * 2 ** 20, String(most))
})

test('keys that are used once leave no trace but their profile', () => {
  const { keys, put, find } = useKeys(2_000)
  for (let number = 0; number < 2_000; number++) put(`bot-${number}`, { limits: [{ requests: 1 }] })
  for (let number = 0; number < 2_000; number++) assert.equal(find(`bot-${number}`)?.name, `bot-${number}`)
  assert.ok(keys.cachedBytes < 10_000, String(keys.cachedBytes))
})

test('unknown keys leave the cache as it is', () => {
  const { keys, put, find } = useKeys(100)
  put('known', { owner: 'support' })
  find('known')
  const known = find('known')
  const bytes = keys.cachedBytes
  for (let attempt = 0; attempt < 10_000; attempt++) assert.equal(keys.find(randomBytes(16).toString('hex')), null)
  assert.equal(find('known'), known, 'still cached')
  assert.equal(keys.cachedBytes, bytes)
})

test('a key that changes, or whose team does, is another object with other limits', () => {
  const { put, putTeam, find } = useKeys(10)
  putTeam('support', 5)
  put('bot', { team: 'support' })
  const limitsOf = () => find('bot')?.spenders.flatMap(({ title, limits }) => [title, limits?.[0]?.requests])
  find('bot')
  const first = find('bot')
  assert.equal(find('bot'), first)
  assert.deepEqual(limitsOf(), ['the team support', 5])
  putTeam('support', 7)
  assert.notEqual(find('bot'), first)
  assert.deepEqual(limitsOf(), ['the team support', 7])
  put('bot', { team: 'support', limits: [{ requests: 2 }] })
  assert.deepEqual(limitsOf(), ['the key bot', 2, 'the team support', 7])
})

test('a key whose team is missing is unknown', () => {
  const { put, putTeam, find } = useKeys(10)
  put('bot', { team: 'support' })
  assert.equal(find('bot'), null)
  putTeam('support', 5)
  assert.equal(find('bot')?.name, 'bot')
})
