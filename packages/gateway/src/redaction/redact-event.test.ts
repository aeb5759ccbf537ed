import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { TraceEvent } from '../telemetry/trace/trace-event.ts'
import { redactEvent } from './redact-event.ts'
import { REDACTED } from './secret-names.ts'

const SECRET = 'S3CRET-VALUE'

test('headers that carry credentials are hidden in both kinds of snapshot, single or as a list', () => {
  for (const name of [
    'authorization',
    'proxy-authorization',
    'x-forwarded-authorization',
    'cookie',
    'set-cookie',
    'x-api-key',
    'api-key',
    'x-goog-api-key',
    'x-functions-key',
    'ocp-apim-subscription-key',
    'x-auth-token',
    'x-amz-security-token',
    'x-client-secret',
  ]) {
    for (const value of [SECRET, [SECRET, `b=${SECRET}`]]) {
      const headers = { [name]: value, accept: '*/*' }
      for (const requestState of [{ request: { headers } }, { response: { code: 200, headers } }]) {
        const shown = redactEvent(event({ requestState }), new Set())
        assert.ok(!JSON.stringify(shown).includes(SECRET), name)
        assert.match(JSON.stringify(shown), /"accept":"\*\/\*"/)
      }
    }
  }
})

test('headers that carry none are shown', () => {
  const headers = {
    'idempotency-key': 'i-1',
    'sec-websocket-key': 'dGhlIHNhbXBsZQ==',
    'www-authenticate': ['Basic realm="Restricted"', 'Bearer error="invalid_token", resource_metadata="https://a/b"'],
    'x-request-id': 'r-1',
    'x-ratelimit-remaining': '3',
    etag: '"abc"',
  }
  const given = event({ requestState: { response: { code: 401, headers } } })
  assert.deepEqual(redactEvent(given, new Set()), given)
})

test('credentials in queries are hidden wherever a URL stands', () => {
  for (const [given, shown] of [
    ['/a?x=1&api_key=abc&y=2', '/a?x=1&api_key=<redacted>&y=2'],
    ['http://h/p?token=a?b&z=1', 'http://h/p?token=<redacted>&z=1'],
    ['/?%61ccess_token=zzz#id_token=yy', '/?%61ccess_token=<redacted>#id_token=<redacted>'],
    ['/?user[password]=x&a=', '/?user[password]=<redacted>&a='],
    ['/login?next=%2Fcb%3Ftoken%3Dabc%26y%3D2&k=1', '/login?next=%2Fcb%3Ftoken%3D<redacted>%26y%3D2&k=1'],
    ['/?x=https://b/?token=abc&y=1', '/?x=https://b/?token=<redacted>&y=1'],
    ['/a;jsessionid=Q?c=d', '/a;jsessionid=<redacted>'],
    ['/callback?code=1&state=2', '/callback?code=<redacted>&state=2'],
    ['/?X-Amz-Signature=aa&X-Amz-Date=1', '/?X-Amz-Signature=<redacted>&X-Amz-Date=1'],
    ['/?%zz=1&key=1', '/?%zz=1&key=<redacted>'],
    ['/?token', '/?token'],
    ['/?page=2&size=10', '/?page=2&size=10'],
  ] as const) {
    const request = { uri: given, pathAndQuery: given, headers: { referer: given } }
    const expected = { uri: shown, pathAndQuery: shown, headers: { referer: shown } }
    assert.deepEqual(
      redactEvent(event({ requestState: { request } }), new Set()),
      event({ requestState: { request: expected } }),
    )
  }
})

test('tokens are known by their looks where their name says nothing', () => {
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln-_bmF0dXJl'
  const headers = {
    'x-a': `Bearer ${SECRET}`,
    'x-b': `before ${jwt} after`,
    'sec-websocket-protocol': `realtime, vendor-insecure-api-key.${SECRET}, other`,
  }
  const shown = redactEvent(event({ requestState: { request: { headers } } }), new Set())
  assert.deepEqual(shown.message['requestState'], {
    request: {
      headers: {
        'x-a': REDACTED,
        'x-b': `before ${REDACTED} after`,
        'sec-websocket-protocol': `realtime, vendor-insecure-api-key.${REDACTED}, other`,
      },
    },
  })
})

test('headers and parameters that the config takes credentials from are hidden', () => {
  const request = { pathAndQuery: `/?team-pass=${SECRET}&b=1`, headers: { 'x-team-pass': SECRET, 'x-b': '1' } }
  const shown = redactEvent(event({ requestState: { request } }), new Set(['x-team-pass', 'team-pass']))
  assert.deepEqual(shown.message['requestState'], {
    request: { pathAndQuery: `/?team-pass=${REDACTED}&b=1`, headers: { 'x-team-pass': REDACTED, 'x-b': '1' } },
  })
})

test('no value of a secret parameter is left, and everything else is as it was', () => {
  const name = fc.constantFrom('token', 'api_key', 'Password', 'client-secret', 'a', 'page', 'q[]')
  const isSecret = (given: string): boolean => !['a', 'page', 'q[]'].includes(given)
  const value = fc.string({ unit: fc.constantFrom('v', '0', '%20', '?', '/', '+', '=', '.') })
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 8 }), (parameters) => {
      const url = (show: (name: string, value: string) => string): string =>
        `/x?${parameters.map(([key, given]) => `${key}=${show(key, given)}`).join('&')}`
      const shown = redactEvent(event({ uri: url((_, given) => given) }), new Set())
      assert.equal(
        shown.message['uri'],
        url((key, given) => (isSecret(key) ? REDACTED : given)),
      )
    }),
    { seed: 4, numRuns: 500 },
  )
})

test('every event can be written as JSON', () => {
  const claims = { big: 2n ** 60n, token: 5n, list: [1n] }
  const shown = redactEvent(event({ requestState: { jwt: claims } }), new Set())
  const jwt = { big: '1152921504606846976', token: REDACTED, list: ['1'] }
  assert.equal(JSON.stringify(shown), JSON.stringify(event({ requestState: { jwt } })))
})

test('hostile texts of a megabyte are read once: the square of that would take hours', () => {
  for (const piece of ['?a=b', 'eyJ-', '%3fa%3d', '?token=a', 'api-key.', ';#&?']) {
    const shown = redactEvent(event({ uri: piece.repeat(1_000_000 / piece.length) }), new Set())
    assert.equal(typeof shown.message['uri'], 'string')
  }
})

function event(fields: object): TraceEvent {
  return { eventStart: null, eventEnd: 1, severity: 'info', message: { type: 'requestSnapshot', ...fields } }
}
