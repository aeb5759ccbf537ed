import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePostgresUrl, parseRedisUrl } from './store-url.ts'

test('an address of Redis has a port, a database and TLS, or their defaults', () => {
  assert.deepEqual(parseRedisUrl('redis://cache'), { host: 'cache', port: 6379, isTls: false, database: 0 })
  assert.deepEqual(parseRedisUrl('redis://[::1]:7000/'), { host: '::1', port: 7000, isTls: false, database: 0 })
  assert.deepEqual(parseRedisUrl('rediss://cache:7000/3'), { host: 'cache', port: 7000, isTls: true, database: 3 })
})

test('an address of Redis with a password, or of another kind, is refused', () => {
  const wrong = [
    'redis://:secret@cache',
    'redis://u:p@cache:1',
    'http://cache',
    'redis://',
    'redis://cache:0',
    'cache:1',
  ]
  for (const text of [...wrong, 'redis://cache/x', 'redis://cache?db=1', 'redis://1.2.3']) {
    assert.equal(parseRedisUrl(text), null, text)
  }
})

test('an address of PostgreSQL has a user and a database, and TLS unless it is turned off', () => {
  const address = { host: 'db.internal', port: 5432, isTls: true, user: 'portico', database: 'usage' }
  assert.deepEqual(parsePostgresUrl('postgres://portico@db.internal/usage'), address)
  assert.deepEqual(parsePostgresUrl('postgresql://portico@db.internal:5432/usage?sslmode=verify-full'), address)
  assert.deepEqual(parsePostgresUrl('postgres://a%40b@[::1]:7000/%C3%A4?sslmode=disable'), {
    ...{ host: '::1', port: 7000, isTls: false, user: 'a@b', database: 'ä' },
  })
})

test('an address of PostgreSQL with a password, without a name, or with weak TLS is refused', () => {
  const wrong = [
    'postgres://u:secret@db/usage',
    'postgres://db/usage',
    'postgres://u@db',
    'postgres://u@db/',
    'postgres://u@db:0/usage',
    'mysql://u@db/usage',
  ]
  const texts = [...wrong, ...['require', 'prefer', 'verify-ca'].map((mode) => `postgres://u@db/usage?sslmode=${mode}`)]
  for (const text of [...texts, 'postgres://u@db/usage?options=x', 'postgres://u@db/a%00b', 'postgres://%@db/usage']) {
    assert.equal(parsePostgresUrl(text), null, text)
  }
})
