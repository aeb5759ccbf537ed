import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { redact } from './redact.ts'

test('private keys, passwords and tokens are hidden, certificates and resource keys stay', () => {
  const pem = '-----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----'
  assert.deepEqual(
    redact({
      listeners: [{ key: 'bind/443/a', tls: { cert: 'CERT', key: pem, root: null } }],
      backends: [{ key: 'b', target: { kind: 'ai', groups: [[{ key: 'b/section/0', config: { key: 'sk-1' } }]] } }],
      policies: [
        {
          key: 'p',
          target: { kind: 'route', key: 'r' },
          traffic: { apiKey: { keys: [{ key: 'sk-1', metadata: { user: 'a' } }] }, authorization: { action: 'Deny' } },
        },
      ],
      backend: { clientSecret: 's', token: 5, passwords: 'plain name', notes: `see ${pem}`, enabled: true },
    }),
    {
      listeners: [{ key: 'bind/443/a', tls: { cert: 'CERT', key: '<redacted>', root: null } }],
      backends: [
        { key: 'b', target: { kind: 'ai', groups: [[{ key: 'b/section/0', config: { key: '<redacted>' } }]] } },
      ],
      policies: [
        {
          key: 'p',
          target: { kind: 'route', key: 'r' },
          traffic: {
            apiKey: { keys: [{ key: '<redacted>', metadata: { user: 'a' } }] },
            authorization: { action: 'Deny' },
          },
        },
      ],
      backend: {
        clientSecret: '<redacted>',
        token: '<redacted>',
        passwords: 'plain name',
        notes: '<redacted>',
        enabled: true,
      },
    },
  )
})

test('header lists, header maps and urls with a user lose their credentials', () => {
  assert.deepEqual(
    redact({
      set: [
        { name: 'Authorization', value: 'abc' },
        { name: 'x-a', value: '1' },
        { name: 'x-b', value: 'Bearer abc' },
      ],
      add: { 'Set-Cookie': 'a=b', 'x-api-key': 'k', accept: '*/*' },
      url: 'https://me:pass@example.com/x@y',
    }),
    {
      set: [
        { name: 'Authorization', value: '<redacted>' },
        { name: 'x-a', value: '1' },
        { name: 'x-b', value: '<redacted>' },
      ],
      add: { 'Set-Cookie': '<redacted>', 'x-api-key': '<redacted>', accept: '*/*' },
      url: 'https://<redacted>@example.com/x@y',
    },
  )
})

test('credentials of the auth policies are hidden, and who they belong to is shown', () => {
  assert.deepEqual(
    redact({
      apiKeyAuthentication: { secretRef: { data: { alice: { key: 'sk-12345678', metadata: { group: 'a' } } } } },
      basicAuthentication: { realm: 'r', users: [{ username: 'alice', hash: '$apr1$x$y' }], mode: 'Strict' },
      auth: { secretRef: 'plain credential', location: { header: { name: 'x-team', prefix: 'Key ' } } },
    }),
    {
      apiKeyAuthentication: { secretRef: { data: { alice: { key: '<redacted>', metadata: { group: 'a' } } } } },
      basicAuthentication: { realm: 'r', users: [{ username: 'alice', hash: '<redacted>' }], mode: 'Strict' },
      auth: { secretRef: '<redacted>', location: { header: { name: 'x-team', prefix: 'Key ' } } },
    },
  )
})

test('a secret is found at any depth, and the input is not changed', () => {
  const secret = 'S3CRET-VALUE'
  const names = fc.constantFrom('password', 'client_secret', 'API-KEY', 'sessionToken', 'key', 'Authorization')
  const wrap = fc.array(fc.constantFrom('object', 'array', 'target'), { maxLength: 6 })
  fc.assert(
    fc.property(names, wrap, (name, wrappers) => {
      let value: unknown = { [name]: secret, other: 1 }
      for (const wrapper of wrappers) value = wrapper === 'array' ? [value] : { [wrapper]: value }
      const before = JSON.stringify(value)
      assert.ok(!JSON.stringify(redact(value)).includes(secret))
      assert.equal(JSON.stringify(value), before)
    }),
    { seed: 2, numRuns: 300 },
  )
})

test('keys that are expressions stay: of limits, and of decisions that are cached', () => {
  const rateLimit = { local: [{ requests: 2, unit: 'Hours', key: 'request.headers["x-user"]' }] }
  const extAuth = { backendRef: { host: 'a:1' }, cache: { key: ['jwt.sub', 'request.path'], ttl: 1000 } }
  const config = { traffic: { rateLimit, extAuth, auth: { key: 'sk-1' } } }
  assert.deepEqual(redact(config), { traffic: { rateLimit, extAuth, auth: { key: '<redacted>' } } })
  const forms = { conditional: [{ condition: 'true', policy: rateLimit }] }
  assert.deepEqual(redact({ rateLimit: forms }), { rateLimit: forms })
})
