import assert from 'node:assert/strict'
import { it } from 'node:test'
import { kindOfStatus, plainError } from './chat-error.ts'

it('a status says what kind of error it is', () => {
  const kinds = [400, 401, 403, 404, 408, 413, 418, 422, 429, 500, 502, 503, 504, 529].map(kindOfStatus)
  assert.deepEqual(kinds, [
    'invalid',
    'authentication',
    'permission',
    'notFound',
    'timeout',
    'tooLarge',
    'invalid',
    'invalid',
    'rateLimit',
    'api',
    'api',
    'overloaded',
    'timeout',
    'overloaded',
  ])
})

it('a short plain body is the message; pages and fragments are not', () => {
  assert.equal(plainError(503, Buffer.from(' upstream connect error \n')).message, 'upstream connect error')
  for (const body of ['', '<html>Bad Gateway</html>', '{"broken', 'x'.repeat(1001)]) {
    assert.equal(plainError(502, Buffer.from(body)).message, 'the provider answered with status 502')
  }
})
