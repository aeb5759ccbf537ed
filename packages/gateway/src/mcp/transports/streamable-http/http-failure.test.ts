import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { HeaderBlock } from '@portico/http'
import { httpFailure } from './http-failure.ts'

const error = (code: number, message: unknown) => JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })

for (const [what, method, status, body, hasSession, code] of [
  ['a session that is gone', 'POST', 404, '', true, 'session_lost'],
  ['a stream of a session that is gone', 'GET', 404, '', true, 'session_lost'],
  [
    'a session that is gone, in the old way',
    'POST',
    400,
    error(-32000, 'Bad Request: No valid session ID provided'),
    true,
    'session_lost',
  ],
  [
    'another thing in the old way',
    'POST',
    400,
    error(-32000, 'Bad Request: Unsupported protocol version'),
    true,
    'refused',
  ],
  ['a message that is no text', 'POST', 400, error(-32000, { session: 1 }), true, 'refused'],
  ['nothing there, where no session was named', 'POST', 404, '', false, 'refused'],
  ['no stream', 'GET', 405, '', true, 'unsupported'],
  ['no such method', 'POST', 405, '', true, 'refused'],
  ['no permission', 'POST', 401, '', true, 'refused'],
  ['trouble', 'POST', 503, '', true, 'refused'],
  ['another place', 'POST', 308, '', true, 'bad_answer'],
  ['another place for a stream', 'GET', 302, '', true, 'bad_answer'],
] as const) {
  test(`${method} ${status} says: ${what}`, () => {
    const failure = httpFailure({ method, status, headers: new HeaderBlock(), body: Buffer.from(body), hasSession })
    assert.equal(failure.code, code)
    assert.match(failure.message, new RegExp(`^it answered HTTP ${status}`))
  })
}

test('the message of an error is reported, with a limited length', () => {
  const body = Buffer.from(error(-32603, 'x'.repeat(10_000)))
  const { message } = httpFailure({ method: 'POST', status: 500, headers: new HeaderBlock(), body, hasSession: true })
  assert.match(message, /^it answered HTTP 500: x{256}$/)
})

test('hostile bodies never throw', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        httpFailure({
          method: 'POST',
          status: 400,
          headers: new HeaderBlock(),
          body: Buffer.from(bytes),
          hasSession: true,
        })
      },
    ),
  )
})
