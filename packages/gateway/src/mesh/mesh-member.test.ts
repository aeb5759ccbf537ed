import assert from 'node:assert/strict'
import { test } from 'node:test'
import { peerProblem } from './mesh-member.ts'

const trust = { acceptedTrustDomains: new Set(['cluster.local', 'other.test']) }
const app = 'spiffe://cluster.local/ns/shop/sa/app'

test('a peer is accepted for one SPIFFE ID of an accepted trust domain, and for the expected one alone', () => {
  for (const [uris, expected, problem] of [
    [[app], null, null],
    [[app], app, null],
    [['spiffe://other.test/ns/shop/sa/app'], null, null],
    [
      [app],
      'spiffe://cluster.local/ns/shop/sa/admin',
      `the peer is ${app}, not spiffe://cluster.local/ns/shop/sa/admin`,
    ],
    [[], null, 'the certificate of the peer has no SPIFFE ID'],
    [[app, app], null, 'the certificate of the peer has several URIs'],
    [['https://cluster.local/ns/shop/sa/app'], null, 'the SPIFFE ID of the peer names no service account'],
    [['spiffe://cluster.local/vm/1'], null, 'the SPIFFE ID of the peer names no service account'],
    [['spiffe://evil.test/ns/shop/sa/app'], null, 'the trust domain evil.test of the peer is not accepted'],
    [['spiffe://cluster.local.evil.test/ns/a/sa/b'], null, /cluster\.local\.evil\.test of the peer is not accepted/],
  ] as const) {
    const found = peerProblem(trust, uris, expected)
    if (problem instanceof RegExp) assert.match(found ?? '', problem)
    else assert.equal(found, problem)
  }
})
