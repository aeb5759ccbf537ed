import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestRecord } from '@portico/gateway/admin-api'
import { resendForm, expressionFor } from './resend-form.ts'

test('a request is sent again as recorded, with remarks on missing parts', () => {
  const again = resendForm(
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
    remarks: ['Credentials were redacted in the record: authorization.'],
  })
  const bare = resendForm(record({ bytesIn: 12 }))
  assert.equal(bare?.remarks.length, 2)
  assert.match(bare?.remarks.join(' ') ?? '', /headers were not recorded.*body \(12 bytes\) was not recorded/)
  const cut = resendForm(record({ requestHeaders: {}, requestBody: { text: 'a', base64: null, isCut: true } }))
  assert.match(cut?.remarks.join(' ') ?? '', /Only the beginning/)
})

test('a connection cannot be sent again', () => {
  assert.equal(resendForm(record({ method: null })), null)
  assert.equal(resendForm(record({ keys: { listener: null, route: null, backend: null } })), null)
})

test('the expression for the next request has its method and its path', () => {
  assert.equal(expressionFor(record({ path: '/a"b?c' })), 'request.method == "POST" && request.path == "/a\\"b"')
})

function record(fields: Partial<RequestRecord>): RequestRecord {
  const keys = { listener: 'bind/1/web', route: null, backend: null }
  const plain = { method: 'POST', host: 'a.example', path: '/orders?x=1', bind: 'bind/1', keys, bytesIn: 0 }
  return { ...plain, requestHeaders: null, requestBody: null, ...fields } as RequestRecord
}
