import assert from 'node:assert/strict'
import { test } from 'node:test'
import { principalOf } from './client-sessions.ts'

const nobody = { jwt: null, apiKeyName: null, basicAuth: null }

test('each way to be somebody is another one, and nobody is nobody', () => {
  const all = [
    nobody,
    { ...nobody, jwt: { iss: 'https://a', sub: 'x' } },
    { ...nobody, jwt: { iss: 'https://b', sub: 'x' } },
    { ...nobody, jwt: { iss: 'https://a', sub: 'y' } },
    { ...nobody, jwt: { iss: 'https://a', client_id: 'x' } },
    { ...nobody, jwt: { iss: 'https://a', azp: 'x' } },
    { ...nobody, jwt: { iss: 'https://a' } },
    { ...nobody, jwt: { iss: 'https://a', email: 'x@a' } },
    { ...nobody, apiKeyName: 'x' },
    { ...nobody, apiKeyName: 'y' },
    { ...nobody, basicAuth: { username: 'x' } },
    { ...nobody, apiKeyName: 'x', basicAuth: { username: 'x' } },
  ].map(principalOf)
  assert.equal(new Set(all).size, all.length)
  assert.equal(all[0], '')
})

test('a renewed token is the same caller, also where no claim names it', () => {
  const first = principalOf({ ...nobody, jwt: { iss: 'https://a', sub: 'x', exp: 1, jti: 'a' } })
  assert.equal(principalOf({ ...nobody, jwt: { iss: 'https://a', sub: 'x', exp: 2, scope: 'more' } }), first)
  const bare = principalOf({ ...nobody, jwt: { iss: 'https://a', email: 'x', iat: 1, jti: 'a' } })
  assert.equal(principalOf({ ...nobody, jwt: { jti: 'b', email: 'x', iss: 'https://a', iat: 2 } }), bare)
})
