import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { test } from 'node:test'
import { cookieLines, cookieValues, HeaderBlock } from '@portico/http'
import { type Bearer, type CredentialLocation, credentialReader, credentialWriter, SEVERAL } from './credential.ts'
import { parameterValues, targetQuery } from '../../formats/query-parameters.ts'

function requestOf(target: string, fields: [string, string][] = []): Bearer {
  return {
    headers: HeaderBlock.of(fields),
    query: targetQuery(target),
    target,
    upstreamTarget: target,
    setTarget(changed) {
      this.upstreamTarget = changed
      this.query = targetQuery(changed)
    },
  }
}

/** Returns the credential that was read, and the request without the credential. */
function take(location: CredentialLocation, request: Bearer) {
  const reader = credentialReader(location)
  const found = reader.read(request)
  reader.remove(request)
  return { found, target: request.upstreamTarget, headers: request.headers.toText() }
}

const bearer = { header: { name: 'authorization', prefix: 'Bearer ' } }

test('a header gives what follows its prefix, in any letter case', () => {
  for (const value of ['Bearer abc', 'bearer abc', 'BEARER  abc ']) {
    const { found, headers } = take(
      bearer,
      requestOf('/', [
        ['Authorization', value],
        ['x-a', '1'],
      ]),
    )
    assert.equal(found, 'abc')
    assert.equal(headers, 'x-a: 1\r\n')
  }
  const { found } = take({ header: { name: 'x-key' } }, requestOf('/', [['X-Key', 'abc']]))
  assert.equal(found, 'abc')
})

test('a header without the prefix holds no credential, two headers hold too many', () => {
  const read = (...values: string[]) =>
    credentialReader(bearer).read(
      requestOf(
        '/',
        values.map((value) => ['authorization', value]),
      ),
    )
  assert.equal(read(), null)
  assert.equal(read('Basic abc'), null)
  assert.equal(read('Bearer'), null)
  assert.equal(read('Bearerabc'), null)
  assert.equal(read('Bearer a', 'Bearer b'), SEVERAL)
  assert.equal(read('Basic a', 'Bearer b'), SEVERAL)
})

test('a query parameter is decoded, cut out, and hidden from logs', () => {
  const location = { queryParameter: { name: 'access token' } }
  const request = requestOf('/a?x=1&access+token=a%2Bb&y=%zz&')
  assert.deepEqual(take(location, request), { found: 'a+b', target: '/a?x=1&y=%zz&', headers: '' })
  assert.equal(request.target, '/a?x=1&access+token=<redacted>&y=%zz&')
  assert.equal(take(location, requestOf('/a?access%20token=abc')).target, '/a')
  assert.equal(take(location, requestOf('/a?x=1')).found, null)
  assert.equal(take(location, requestOf('/a?access+token=')).found, null)
  assert.equal(take(location, requestOf('/a?access+token=1&access%20token=2')).found, SEVERAL)
})

test('a cookie is cut out of its line, whatever stands around it', () => {
  const location = { cookie: { name: 'token' } }
  const cut = (...lines: string[]) =>
    take(
      location,
      requestOf(
        '/',
        lines.map((line) => ['cookie', line]),
      ),
    )
  assert.deepEqual(cut('a=1; token=abc; b=2'), { found: 'abc', target: '/', headers: 'cookie: a=1; b=2\r\n' })
  assert.deepEqual(cut('token="abc"'), { found: 'abc', target: '/', headers: '' })
  assert.deepEqual(cut('token=a=b; c=d').found, 'a=b')
  assert.deepEqual(cut('a=1', 'token=abc'), { found: 'abc', target: '/', headers: 'cookie: a=1\r\n' })
  assert.equal(cut('Token=abc; xtoken=abc; token').found, null)
  assert.equal(cut('token=a; token=b').found, SEVERAL)
  assert.equal(cut('token=a', 'token=b').found, SEVERAL)
})

const name = fc.stringMatching(/^[a-z]{1,3}$/)
const part = fc.stringMatching(/^[a-z0-9%+.=-]{0,6}$/)

test('whatever else is in a query keeps its bytes and its order', () => {
  const pair = fc.oneof(
    part,
    fc.tuple(name, part).map(([key, value]) => `${key}=${value}`),
  )
  fc.assert(
    fc.property(fc.array(pair), fc.nat(), (pairs, place) => {
      const others = pairs.filter((each) => parameterValues(each, 'token').length === 0)
      const at = place % (others.length + 1)
      const all = [...others.slice(0, at), 'token=secret', ...others.slice(at)].join('&')
      const { found, target } = take({ queryParameter: { name: 'token' } }, requestOf(`/p?${all}`))
      assert.equal(found, 'secret')
      assert.equal(target, others.length === 0 ? '/p' : `/p?${others.join('&')}`)
    }),
    { seed: 11, numRuns: 500 },
  )
})

test('whatever else is in the cookies keeps its bytes and its order', () => {
  const cookie = fc.tuple(name, part).map(([key, value]) => `${key}x=${value}`)
  const spaces = fc.constantFrom('; ', ';', ';  ')
  fc.assert(
    fc.property(fc.array(cookie), fc.nat(), spaces, (others, place, between) => {
      const at = place % (others.length + 1)
      const line = [...others.slice(0, at), 'token=secret', ...others.slice(at)].join(between)
      const request = requestOf('/', [['cookie', line]])
      const { found, headers } = take({ cookie: { name: 'token' } }, request)
      assert.equal(found, 'secret')
      assert.equal(headers, others.length === 0 ? '' : `cookie: ${others.join(between)}\r\n`)
    }),
    { seed: 13, numRuns: 500 },
  )
})

test('credentials that were removed are restored byte for byte, several in turn', () => {
  const inQuery = fc.array(fc.oneof(part, fc.constant('a=1'))).map((pairs) => pairs.join('&'))
  const inCookie = fc
    .array(fc.constantFrom('a=1', ' token="x"', 'tok=2', ' ', 'key=3 '))
    .map((pairs) => pairs.join(';'))
  const locations = [
    { queryParameter: { name: 'a' } },
    { queryParameter: { name: 'key' } },
    { cookie: { name: 'token' } },
    { cookie: { name: 'key' } },
    bearer,
  ]
  fc.assert(
    fc.property(inQuery, fc.array(inCookie, { minLength: 1, maxLength: 2 }), (query, lines) => {
      const fields: [string, string][] = lines.map((line) => ['cookie', line.trim()])
      const request = requestOf(`/p?${query}&key=k`, [...fields, ['authorization', 'BEARER  abc']])
      const sent = cookieLines(request.headers).filter((line) => line !== '')
      const taken = locations.map((location) => credentialReader(location).remove(request))
      assert.deepEqual(parameterValues(targetQuery(request.upstreamTarget), 'a'), [])
      const outgoing = { target: request.upstreamTarget, headers: request.headers.clone() }
      for (const each of taken.toReversed()) each.restore(outgoing)
      assert.equal(outgoing.target, `/p?${query}&key=k`)
      assert.equal(outgoing.headers.get('authorization'), 'BEARER  abc')
      assert.deepEqual(
        cookieLines(outgoing.headers).filter((line) => line !== ''),
        sent,
      )
    }),
    { seed: 19, numRuns: 500 },
  )
})

/** The request after the credential was written. */
function write(location: CredentialLocation, credential: string, target: string, fields: [string, string][] = []) {
  const outgoing = { target, headers: HeaderBlock.of(fields) }
  credentialWriter(location)(outgoing, credential)
  return outgoing
}

test('a written header replaces every spelling of it that the client sent', () => {
  const { headers } = write({ header: { name: 'x-api-key', prefix: 'Key ' } }, 'abc', '/', [
    ['X-Api-Key', 'mine'],
    ['x_api_key', 'mine'],
    ['x.api-key', 'mine'],
    ['x-api-keys', 'other'],
  ])
  assert.equal(headers.toText(), 'x-api-keys: other\r\nx-api-key: Key abc\r\n')
})

test('a written parameter or cookie replaces those of the client, and cannot break out', () => {
  const query = { queryParameter: { name: 'the key' } }
  assert.equal(write(query, 'a&b=c#d', '/p?the+key=x&y=1').target, '/p?y=1&the%20key=a%26b%3Dc%23d')
  assert.equal(write(query, 'abc', '/p').target, '/p?the%20key=abc')
  const cookie = write({ cookie: { name: 'k' } }, 'a;b c"', '/', [
    ['cookie', 'k=mine; a=1'],
    ['cookie', 'b=2'],
  ])
  assert.equal(cookie.headers.toText(), 'cookie: a=1; b=2; k=a%3Bb%20c%22\r\n')
})

test('a credential that was written is read back', () => {
  const credential = fc.stringMatching(/^[!-~]{1,20}$/)
  fc.assert(
    fc.property(credential, name, (value, key) => {
      const query = write({ queryParameter: { name: key } }, value, '/p?a=1')
      assert.deepEqual(parameterValues(targetQuery(query.target), key), [value])
      const { headers } = write({ cookie: { name: key } }, value, '/', [['cookie', 'zzzz=1']])
      assert.equal(cookieValues(headers, key).length, 1)
      assert.deepEqual(cookieValues(headers, 'zzzz'), ['1'])
    }),
    { seed: 17, numRuns: 300 },
  )
})
