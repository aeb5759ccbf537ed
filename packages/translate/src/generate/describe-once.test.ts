import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@portico/gateway/schema'
import { describeOnce } from './describe-once.ts'

const text = (description: string): JsonObject => ({ description, type: 'string' })
const auth = (): JsonObject => ({
  type: 'object',
  properties: {
    key: text('The key.'),
    header: text('Where the key stands.'),
    // A field named `description`, not a description.
    description: text('What the key is for.'),
  },
})

test('a repeated part refers to the occurrence nearest to the root', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      deep: { type: 'array', items: { type: 'object', properties: { auth: { description: 'Of one.', ...auth() } } } },
      near: { description: 'Of all.', ...auth() },
      single: text('The key.'),
    },
  }
  const before = structuredClone(schema)
  const bare = {
    type: 'object',
    properties: { key: { type: 'string' }, header: { type: 'string' }, description: { type: 'string' } },
  }
  assert.deepEqual(describeOnce(schema), {
    type: 'object',
    properties: {
      deep: {
        type: 'array',
        items: { type: 'object', properties: { auth: { description: 'Of one. See `near`.', ...bare } } },
      },
      near: { description: 'Of all.', ...auth() },
      single: text('The key.'),
    },
  })
  assert.deepEqual(schema, before)
})
