import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyCharacter } from '../../../http/src/testing/any-character.ts'
import { formatSpiffe, isTrustDomain, parseSpiffe } from './spiffe.ts'

const NAME = /^[a-z0-9]([-a-z0-9]{0,10}[a-z0-9])?$/
const id = fc.record(
  {
    trustDomain: fc.stringMatching(/^[a-z0-9._-]{1,20}$/),
    namespace: fc.stringMatching(NAME),
    serviceAccount: fc.array(fc.stringMatching(NAME), { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.')),
  },
  { noNullPrototype: true },
)

test('an identity survives a round trip', () => {
  fc.assert(fc.property(id, (found) => assert.deepEqual(parseSpiffe(formatSpiffe(found)), found)))
})

test('an identity has one spelling: any text that is read is written back byte for byte', () => {
  const pieces = fc.constantFrom(
    'spiffe://',
    'SPIFFE://',
    'a.b',
    '/',
    '/ns/',
    '/sa/',
    'x',
    'X',
    '%2f',
    '?',
    '#',
    '@',
    ':1',
  )
  const texts = fc.oneof(
    fc.array(pieces, { maxLength: 9 }).map((parts) => parts.join('')),
    id.map(formatSpiffe),
    fc.string(),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const found = parseSpiffe(text)
      if (found !== null) assert.equal(formatSpiffe(found), text)
    }),
    { numRuns: 1000 },
  )
})

test('one changed character of an identity is another identity or none', () => {
  fc.assert(
    fc.property(id, fc.nat(), anyCharacter, (found, at, char) => {
      const text = formatSpiffe(found)
      const place = at % (text.length + 1)
      const longer = text.slice(0, place) + char + text.slice(place)
      assert.notDeepEqual(parseSpiffe(longer), found)
    }),
  )
})

test('texts that are almost an identity are rejected', () => {
  const good = 'spiffe://cluster.local/ns/default/sa/web'
  assert.deepEqual(parseSpiffe(good), { trustDomain: 'cluster.local', namespace: 'default', serviceAccount: 'web' })
  const odd = [
    '',
    'cluster.local/ns/default/sa/web',
    'https://cluster.local/ns/default/sa/web',
    'SPIFFE://cluster.local/ns/default/sa/web',
    'spiffe://Cluster.local/ns/default/sa/web',
    'spiffe://user@cluster.local/ns/default/sa/web',
    'spiffe://cluster.local:443/ns/default/sa/web',
    'spiffe:///ns/default/sa/web',
    'spiffe://cluster.local',
    'spiffe://cluster.local/web',
    'spiffe://cluster.local/ns//sa/web',
    'spiffe://cluster.local/ns/default/sa/',
    'spiffe://cluster.local/sa/web/ns/default',
    'spiffe://cluster.local//ns/default/sa/web',
    'spiffe://cluster.local/ns/../sa/web',
    'spiffe://cluster.local/ns/a%2fb/sa/web',
    'spiffe://cluster.local/ns/a.b/sa/web',
    'spiffe://cluster.local/ns/-a/sa/web',
    'spiffe://cluster.local/ns/default/sa/web.',
    'spiffe://cluster.local/ns/default/sa/Web',
    'spiffe://cluster.local/ns/defäult/sa/web',
    `spiffe://cluster.local/ns/${'a'.repeat(64)}/sa/web`,
    `spiffe://cluster.local/ns/default/sa/${'a'.repeat(254)}`,
    `spiffe://${'a'.repeat(256)}/ns/default/sa/web`,
    ...['/', '?', '#', '?a=b', '#a', ' ', '\n', '\0', '/x'].map((end) => good + end),
    ...[' ', '\n', '"', 'URI:'].map((start) => start + good),
  ]
  for (const text of odd) assert.equal(parseSpiffe(text), null, JSON.stringify(text))
})

test('trust domains are lower case names without ports', () => {
  for (const name of ['cluster.local', 'a', 'td_1-x']) assert.equal(isTrustDomain(name), true, name)
  for (const name of ['', 'A', 'a b', 'a/b', 'a:1', 'é', '*', 'a\n']) assert.equal(isTrustDomain(name), false, name)
})
