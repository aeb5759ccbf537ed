import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printMatch } from './print-match.ts'

test('a match is one line', () => {
  const match = {
    path: { kind: 'pathPrefix', value: '/api' },
    method: 'GET',
    headers: [{ name: 'x-tenant', kind: 'regex', value: 'acme.*' }],
    query: [{ name: 'a', kind: 'exact', value: 'b' }],
  } as const
  assert.equal(printMatch(match), 'GET /api… ?a=b x-tenant: ~acme.*')
  assert.equal(printMatch({ path: { kind: 'exact', value: '/' }, method: null, headers: [], query: [] }), '/')
})
