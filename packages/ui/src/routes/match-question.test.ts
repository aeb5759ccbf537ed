import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstLack, questionOf, shareableHeaders } from './match-question.ts'
import { readRoutesSearch } from './search.ts'

test('the question has the request as written', () => {
  assert.equal(questionOf({ url: ' ', method: '', headers: 'x' }), null)
  assert.deepEqual(questionOf({ url: ' /a ', method: '', headers: '' }), { url: '/a' })
  assert.deepEqual(questionOf({ url: '/a', method: 'post', headers: 'X-Team: a\nx-team: b\n\nx-one:1' }), {
    url: '/a',
    method: 'POST',
    headers: { 'x-team': ['a', 'b'], 'x-one': ['1'] },
  })
  const misread = questionOf({ url: '/a', method: '', headers: 'nothing' })
  assert.deepEqual(misread, { in: 'headers', problem: 'Not a header: nothing' })
  for (const url of ['a', 'http:/', 'http://', 'ftp://a/', 'http://me@a/'])
    assert.equal(JSON.stringify(questionOf({ url, method: '', headers: '' })).slice(0, 11), '{"in":"url"', url)
})

test('headers that may be secrets stay out of the address', () => {
  const headers = 'x-team: authorization\nAuthorization: Bearer a\n\ncookie: a=b\nx-api-key: 1\nhost: a'
  assert.equal(shareableHeaders(headers), 'x-team: authorization\nhost: a')
})

test('the first missing condition is named', () => {
  const candidate = { route: 'r', name: 'r', match: 0 }
  assert.equal(firstLack({ ...candidate, lacks: ['method GET', 'header a'] }), 'lacks method GET, and 1 more')
  assert.equal(firstLack({ ...candidate, lacks: ['path below /a'] }), 'lacks path below /a')
  assert.equal(firstLack({ ...candidate, lacks: [] }), 'matches too, but has lower precedence')
})

test('addresses are read as texts, whatever the router made of them', () => {
  assert.deepEqual(readRoutesSearch({ route: 'a', url: 5, method: true, headers: '', other: 'x' }), {
    route: 'a',
    url: '5',
    method: 'true',
  })
})
