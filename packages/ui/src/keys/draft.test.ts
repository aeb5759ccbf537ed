import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { KeyView, TeamView } from '@portico/gateway/admin-api'
import { changedValues } from './changed-values.ts'
import { changedFields, draftOf, EMPTY_DRAFT, type EntryDraft, newEntry, patchOf, rebase } from './draft.ts'
import { problemText, readProblems } from './problems.ts'
import { readKeysSearch } from './search.ts'
import { sampleBudget, sampleKey, sampleTeam } from '../testing/key-samples.ts'
import { teamTree } from './team-tree.ts'

/** The fields of a key as the gateway has them. */
const keys = fc
  .record({
    owner: fc.option(fc.stringMatching(/^[a-z]{1,8}$/), { nil: undefined }),
    team: fc.option(fc.constantFrom('support', 'sales'), { nil: undefined }),
    models: fc.option(fc.uniqueArray(fc.stringMatching(/^[a-z0-9.-]{1,6}\*?$/), { minLength: 1, maxLength: 4 }), {
      nil: undefined,
    }),
    limits: fc.option(
      fc.array(
        fc.oneof(
          fc.record({ requests: fc.integer({ min: 1 }), unit: fc.constantFrom('Seconds', 'Minutes', 'Hours') }),
          fc.record({ calls: fc.integer({ min: 1 }) }),
        ),
        { minLength: 1, maxLength: 3 },
      ),
      { nil: undefined },
    ),
    budgets: fc.option(
      fc.array(
        fc.oneof(
          fc.record({ usd: fc.integer({ min: 1 }), per: fc.constantFrom('Hour', 'Day', 'Week', 'Month') }),
          fc.record({ usd: fc.integer({ min: 1 }), per: fc.constant('Lifetime') }),
          fc.record({ tokens: fc.integer({ min: 1 }), per: fc.constant('Week'), rolling: fc.constant(true) }),
          fc.record({ tokens: fc.integer({ min: 1 }), per: fc.constant('Day'), timeZone: fc.constant('Asia/Tokyo') }),
        ),
        { minLength: 1, maxLength: 3 },
      ),
      { nil: undefined },
    ),
    expires: fc.option(
      fc.integer({ min: 0, max: 4e9 }).map((seconds) => new Date(seconds * 1_000).toISOString()),
      { nil: undefined },
    ),
    tags: fc.option(fc.constantFrom({ tier: 'gold' }, { a: 'x=y', b: '' }), { nil: undefined }),
  })
  .map((fields): KeyView => {
    const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
    return sampleKey(set)
  })

describe('the form of a key', () => {
  test('has all fields of the key, and sends them back as they were', () => {
    fc.assert(
      fc.property(keys, (key) => {
        const { id: _id, state: _state, version: _version, secrets: _secrets, created: _c, changed: _d, ...own } = key
        assert.deepEqual(newEntry(draftOf(key)), JSON.parse(JSON.stringify(own)))
        assert.deepEqual(patchOf(draftOf(key), draftOf(key)), {})
      }),
    )
  })

  test('sends only the fields that differ, with null for those that were emptied', () => {
    const before = draftOf(sampleKey({ owner: 'ann', models: ['m'], budgets: [sampleBudget()] }))
    assert.deepEqual(patchOf(before, { ...before, owner: ' bob ', models: ' \n', routes: 'a, b\nc' }), {
      ...{ owner: 'bob', models: null, routes: ['a', 'b', 'c'] },
    })
    const budgets = [{ amount: '1,000', of: 'tokens', per: 'Hour', isRolling: false, timeZone: '' } as const]
    assert.deepEqual(patchOf(before, { ...before, budgets }), { budgets: [{ tokens: 1000, per: 'Hour' }] })
    const limits = [{ amount: 'many', of: 'requests', unit: 'Hours' } as const]
    assert.deepEqual(patchOf(before, { ...before, limits }), { limits: [{ requests: 'many', unit: 'Hours' }] })
    assert.deepEqual(patchOf(before, { ...before, expires: 'soon', tags: 'a' }), { expires: 'soon', tags: { a: '' } })
  })

  test('puts own changes on top of those of others', () => {
    fc.assert(
      fc.property(keys, keys, keys, (one, two, three) => {
        const [base, draft, current] = [draftOf(one), draftOf(two), draftOf(three)]
        const own = new Set(changedFields(base, draft))
        const merged = rebase({ base, draft, current })
        for (const field of Object.keys(EMPTY_DRAFT) as (keyof EntryDraft)[])
          assert.deepEqual(merged[field], (own.has(field) ? draft : current)[field])
        // The next body undoes no change of others.
        for (const field of changedFields(current, merged)) assert.ok(own.has(field))
      }),
    )
  })

  test('has the problems of the gateway beside their fields', () => {
    const problems = readProblems(
      [
        'name: found "a b", expected a name',
        'budgets[1].usd: found "x", expected a number',
        'budgets[0]: found 0 of `usd`, `tokens`, expected exactly one',
        'models[2]: found "**", expected a pattern',
        'tags["a b"]: found 1, expected a string',
        'unknown key `onwer`; did you mean `owner`?',
        'the store of keys failed: disk full',
      ].join('\n'),
    )
    assert.equal(problemText(problems, 'name'), 'found "a b", expected a name')
    assert.equal(problemText(problems, 'budgets', 1), 'usd: found "x", expected a number')
    assert.match(problemText(problems, 'budgets', 0) ?? '', /^found 0 of/)
    assert.equal(problemText(problems, 'budgets'), undefined)
    assert.equal(problemText(problems, 'models'), '[2]: found "**", expected a pattern')
    assert.equal(problemText(problems, 'tags'), '["a b"]: found 1, expected a string')
    assert.deepEqual(
      problems.flatMap(({ field, text }) => (field === null ? [text] : [])),
      ['unknown key `onwer`; did you mean `owner`?', 'the store of keys failed: disk full'],
    )
  })
})

test('teams are trees, whatever the list has', () => {
  const names = (teams: readonly TeamView[]): string =>
    JSON.stringify(teamTree(teams), (key, value: unknown) => (key === 'team' ? (value as TeamView).name : value))
  const list = [sampleTeam('a'), sampleTeam('b', { parent: 'a' }), sampleTeam('c', { parent: 'gone' })]
  assert.equal(
    names(list),
    '[{"team":"a","depth":0,"children":[{"team":"b","depth":1,"children":[]}]},{"team":"c","depth":0,"children":[]}]',
  )
  assert.equal(names([sampleTeam('a', { parent: 'b' }), sampleTeam('b', { parent: 'a' })]), '[]')
})

test('a change lists what differs, without the times of the change', () => {
  const before = { id: '1', name: 'bot', fields: { owner: 'ann', models: ['m'] }, changed: '1' }
  const after = { ...before, fields: { owner: 'bob' }, changed: '2', revoked: '2026-11-19T12:00:00Z' }
  assert.deepEqual(changedValues(before, after), [
    { name: 'owner', before: 'ann', after: 'bob' },
    { name: 'models', before: '["m"]', after: null },
    { name: 'revoked', before: null, after: '2026-11-19T12:00:00Z' },
  ])
  assert.deepEqual(changedValues(null, { name: 'bot', fields: { owner: 'ann' } }), [
    { name: 'owner', before: null, after: 'ann' },
  ])
  const [one, two] = [
    { prefix: 'pk_live_ab12', created: '1' },
    { prefix: 'pk_live_cd34', created: '1', expires: '2' },
  ]
  assert.deepEqual(changedValues({ secrets: [one] }, { secrets: [one, two] }), [
    { name: 'secrets', before: 'pk_live_ab12…', after: 'pk_live_ab12…, pk_live_cd34… until 2' },
  ])
  assert.deepEqual(changedValues(before, { ...before, changed: '3' }), [])
})

test('the address of the page has valid values only', () => {
  assert.deepEqual(readKeysSearch({ list: 'users', state: 'lost', before: 'x', text: '', key: ['a'] }), {})
  const search = {
    list: 'changes',
    text: 'bot',
    state: 'disabled',
    team: 'x',
    after: 'b',
    key: 'bot',
    before: 7,
  } as const
  assert.deepEqual(readKeysSearch(search), search)
  assert.deepEqual(readKeysSearch({ key: 42 }), { key: '42' })
})
