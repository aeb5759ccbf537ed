import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestRecord } from '@portico/gateway/admin-api'
import { againOf, expressionFor } from './again-of.ts'

test('a request is sent again as far as it was kept, and what is missing is said', () => {
  const again = againOf(
    record({
      requestHeaders: { host: 'a', connection: 'close', 'x-team': ['a', 'b'], authorization: '<redacted>' },
      requestBody: { text: '{"a":1}', base64: null, isCut: false },
    }),
  )
  assert.deepEqual(again, {
    method: 'POST',
    host: 'a.example',
    path: '/orders?x=1',
    headers: [
      ['x-team', 'a'],
      ['x-team', 'b'],
    ],
    body: '{"a":1}',
    remarks: ['Credentials were hidden before they were kept: authorization.'],
  })
  const bare = againOf(record({ bytesIn: 12 }))
  assert.equal(bare?.remarks.length, 2)
  assert.match(bare?.remarks.join(' ') ?? '', /headers were not kept.*body \(12 bytes\) was not kept/)
  const cut = againOf(record({ requestHeaders: {}, requestBody: { text: 'a', base64: null, isCut: true } }))
  assert.match(cut?.remarks.join(' ') ?? '', /Only the beginning/)
})

test('what never was a request cannot be sent', () => {
  assert.equal(againOf(record({ method: null })), null)
  assert.equal(againOf(record({ keys: { listener: null, route: null, backend: null } })), null)
})

test('the next one of its kind has its method and its path', () => {
  assert.equal(expressionFor(record({ path: '/a"b?c' })), 'request.method == "POST" && request.path == "/a\\"b"')
})

function record(fields: Partial<RequestRecord>): RequestRecord {
  const keys = { listener: 'bind/1/web', route: null, backend: null }
  const plain = { method: 'POST', host: 'a.example', path: '/orders?x=1', bind: 'bind/1', keys, bytesIn: 0 }
  return { ...plain, requestHeaders: null, requestBody: null, ...fields } as RequestRecord
}
