import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Json, JsonObject } from '@portico/chat'
import { readModelList, writeModelList } from './model-list.ts'

test('lists of each vendor', () => {
  const openai = { object: 'list', data: [{ id: 'gpt-4.1', object: 'model', created: 5, owned_by: 'system' }] }
  assert.deepEqual(readModelList('openai', openai), [{ id: 'gpt-4.1', created: 5, owner: 'system' }])
  const anthropic = {
    data: [{ type: 'model', id: 'claude-x', display_name: 'Claude X', created_at: '1970-01-01T00:01:00Z' }],
    has_more: false,
  }
  assert.deepEqual(readModelList('anthropic', anthropic), [
    { id: 'claude-x', title: 'Claude X', created: 60, owner: 'anthropic' },
  ])
  const vertex: JsonObject = {
    publisherModels: [
      { name: 'publishers/google/models/gemini-2.5-pro', versionId: 'default' },
      { name: 'publishers/google/other' },
    ],
  }
  assert.deepEqual(readModelList('vertex', vertex), [{ id: 'gemini-2.5-pro', owner: 'google' }])
})

test('a list of none is one, and something else is not', () => {
  assert.deepEqual(readModelList('vertex', {}), [])
  assert.deepEqual(readModelList('openai', { data: [] }), [])
  const others: JsonObject[] = [{ error: {} }, { data: {} }, { data: null }]
  for (const body of others) assert.equal(readModelList('openai', body), null)
})

test('as clients of each kind read it', () => {
  const models = [{ id: 'a', created: 60, owner: 'google' }, { id: 'b' }]
  assert.deepEqual(writeModelList('openai', models, 7), {
    object: 'list',
    data: [
      { id: 'a', object: 'model', created: 60, owned_by: 'google' },
      { id: 'b', object: 'model', created: 7, owned_by: 'portico' },
    ],
  })
  assert.deepEqual(writeModelList('anthropic', models, 7), {
    data: [
      { type: 'model', id: 'a', display_name: 'a', created_at: '1970-01-01T00:01:00.000Z' },
      { type: 'model', id: 'b', display_name: 'b', created_at: '1970-01-01T00:00:07.000Z' },
    ],
    has_more: false,
    first_id: 'a',
    last_id: 'b',
  })
  assert.deepEqual(writeModelList('gemini', [{ id: 'a' }, { id: 'models/b' }], 7), {
    models: [
      { name: 'models/a', baseModelId: 'a', displayName: 'a' },
      { name: 'models/b', baseModelId: 'b', displayName: 'b' },
    ],
  })
  assert.deepEqual(writeModelList('anthropic', [], 7), { data: [], has_more: false, first_id: null, last_id: null })
})

test('whatever a provider lists can be written and read again', () => {
  const member = fc.oneof(fc.string({ maxLength: 20 }), fc.double(), fc.constant(null), fc.date().map(String))
  const entry = fc.dictionary(
    fc.constantFrom('id', 'name', 'created', 'created_at', 'owned_by', 'display_name'),
    member as fc.Arbitrary<Json>,
  )
  const kind = fc.constantFrom('openai' as const, 'anthropic' as const, 'vertex' as const)
  fc.assert(
    fc.property(kind, fc.array(entry), (from, list) => {
      const models = readModelList(from, { data: list, publisherModels: list })!
      for (const to of ['openai', 'anthropic'] as const) {
        const again = readModelList(to, writeModelList(to, models, 1))!
        assert.deepEqual(
          again.map(({ id }) => id),
          models.map(({ id }) => id),
        )
      }
    }),
    { seed: 1, numRuns: 500 },
  )
})
