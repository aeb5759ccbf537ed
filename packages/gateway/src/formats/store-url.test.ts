import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRedisUrl } from './store-url.ts'

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
