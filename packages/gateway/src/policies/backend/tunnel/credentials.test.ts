import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import type { BackendAuthConfig } from '../auth/schema.ts'
import { proxyCredentials } from './credentials.ts'

test('the key of a proxy is a bearer token, or what its header says', () => {
  assert.equal(proxyCredentials(undefined), null)
  assert.equal(proxyCredentials({ key: 'abc' }), 'Bearer abc')
  assert.equal(proxyCredentials({ secretRef: 'abc' }), 'Bearer abc')
  const header = { name: 'Proxy-Authorization', prefix: 'Basic ' }
  assert.equal(proxyCredentials({ key: 'abc', location: { header } }), 'Basic abc')
  assert.equal(proxyCredentials({ key: 'abc', location: { header: { name: 'authorization' } } }), 'abc')
})

test('an `auth` policy that a proxy request cannot carry is rejected', () => {
  const refused: BackendAuthConfig[] = [
    { passthrough: {} },
    { gcp: { type: 'AccessToken' } },
    { key: 'abc', location: { header: { name: 'x-key' } } },
    { key: 'abc', location: { queryParameter: { name: 'key' } } },
  ]
  for (const auth of refused) assert.throws(() => proxyCredentials(auth), ConfigFault)
})
