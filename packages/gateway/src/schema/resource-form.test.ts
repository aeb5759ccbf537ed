import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessLog } from '../policies/frontend/access-log/schema.ts'
import { auth } from '../policies/backend/auth/schema.ts'
import { mcp } from '../policies/backend/mcp/schema.ts'
import { tls } from '../policies/backend/tls/schema.ts'
import { tunnel } from '../policies/backend/tunnel/schema.ts'
import { apiKeyAuthentication } from '../policies/traffic/api-key-authentication/schema.ts'
import { authorization } from '../policies/traffic/authorization/schema.ts'
import { basicAuthentication } from '../policies/traffic/basic-authentication/schema.ts'
import { headerModifiers } from '../policies/traffic/header-modifiers/schema.ts'
import { jwtAuthentication } from '../policies/traffic/jwt-authentication/schema.ts'
import { timeouts } from '../policies/traffic/timeouts/schema.ts'
import { webhookGuard } from '../llm/guards/webhook/schema.ts'
import { Refusal } from './kit.ts'
import type { Entries, ReferredObjects, Schema } from './kit.ts'
import { printPath } from './problem.ts'
import { inResource, resolveReferences } from './resource-form.ts'
import { validate } from './validate.ts'

const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const KEY = '-----BEGIN PRIVATE KEY-----\nBBBB\n-----END PRIVATE KEY-----\n'

const secrets: Record<string, Entries> = {
  token: { Authorization: ' Bearer s3cret-token\n' },
  aws: { accessKey: 'AKIA', secretKey: 'abc\n' },
  google: { 'credentials.json': '{"type":"service_account"}' },
  users: { '.htaccess': 'bob:{SHA}qUqP5cyxm6YcTAhz05Hph5gvu9M=\n' },
  'bad-users': { '.htaccess': 'bob:plain-password\n' },
  keys: { alice: 'key-of-alice', bob: '{"key": "key-of-bob", "metadata": {"group": "ops"}}' },
  'more-keys': { alice: 'another-key-of-alice' },
  short: { alice: 'short' },
  client: { 'tls.crt': PEM, 'tls.key': KEY, 'ca.crt': PEM },
  'no-client': { 'tls.crt': 'nothing', 'tls.key': KEY },
  'no-trust': { 'tls.crt': PEM, 'tls.key': KEY, 'ca.crt': 'nothing' },
  'no-authorities': { 'tls.crt': PEM, 'tls.key': KEY, 'ca.crt': '\n' },
}

const objects: ReferredObjects = {
  secret: (name) => secrets[name] ?? new Refusal('unknown_reference', { detail: `there is no Secret \`${name}\`` }),
  secrets: () => ({ keys: secrets['keys'] ?? {}, 'more-keys': secrets['more-keys'] ?? {} }),
  configMap: (name): Entries => (name === 'ca' ? { 'ca.crt': PEM } : name === 'bad-ca' ? { 'ca.crt': 'nothing' } : {}),
  backend: ({ name, namespace = 'here', port }) => `backend/service/${namespace}/${name}/${port}`,
  pem: {
    pair: (cert, key) => (cert === PEM && key === KEY ? null : 'not a certificate and its key'),
    authorities: (pem) => (pem === PEM ? null : 'a certificate cannot be read'),
  },
}

function settled(schema: Schema, written: unknown): unknown {
  const read = validate(inResource(schema), written)
  assert.ok(read.ok, read.ok ? '' : JSON.stringify(read.problems))
  const { value, problems } = resolveReferences(schema, read.value, objects)
  assert.deepEqual(problems, [])
  return value
}

function problemOf(schema: Schema, written: unknown): string {
  const read = validate(inResource(schema), written)
  assert.ok(read.ok, read.ok ? '' : JSON.stringify(read.problems))
  const [problem] = resolveReferences(schema, read.value, objects, ['spec']).problems
  return problem === undefined ? '' : `${printPath(problem.path)}: ${problem.found}`
}

test('a resource becomes what the file would have given', () => {
  assert.deepEqual(settled(auth.schema, { secretRef: { name: 'token' } }), { secretRef: 's3cret-token' })
  assert.deepEqual(settled(auth.schema, { aws: { secretRef: { name: 'aws' } } }), {
    aws: { secretRef: { data: { accessKey: 'AKIA', secretKey: 'abc' } } },
  })
  assert.deepEqual(settled(auth.schema, { gcp: { secretRef: { name: 'google' } } }), {
    gcp: { type: 'AccessToken', secretRef: '{"type":"service_account"}' },
  })
  assert.deepEqual(settled(tunnel.schema, { backendRef: { name: 'proxy', port: 3128 } }), {
    backendRef: { name: 'backend/service/here/proxy/3128' },
  })
  assert.deepEqual(
    settled(tls.schema, { mtlsCertificateRef: [{ name: 'client' }], caCertificateRefs: [{ name: 'ca' }] }),
    { mtlsCertificateRef: { cert: PEM, key: KEY, ca: PEM }, caCertificateRefs: [PEM] },
  )
  assert.deepEqual(settled(tls.schema, { mtlsCertificateRef: [{ name: 'no-authorities' }] }), {
    mtlsCertificateRef: { cert: PEM, key: KEY },
  })
  assert.deepEqual(settled(basicAuthentication.schema, { secretRef: { name: 'users' } }), {
    mode: 'Strict',
    realm: 'Restricted',
    secretRef: [{ username: 'bob', hash: '{SHA}qUqP5cyxm6YcTAhz05Hph5gvu9M=' }],
  })
  assert.deepEqual(
    settled(webhookGuard, {
      backendRef: { name: 'guard', port: 80 },
      forwardHeaderMatches: [
        { name: 'X-Tenant', value: 'a' },
        { name: 'x-b', type: 'RegularExpression', value: '[0-9]+' },
      ],
    }),
    {
      backendRef: { name: 'backend/service/here/guard/80' },
      forwardHeaderMatches: [
        { name: 'x-tenant', value: { exact: 'a' } },
        { name: 'x-b', value: { regex: '[0-9]+' } },
      ],
      failureMode: 'FailClosed',
    },
  )
})

test('API keys come from one Secret, or from all with some labels, under names of their own', () => {
  const bob = { key: 'key-of-bob', metadata: { group: 'ops' } }
  assert.deepEqual(settled(apiKeyAuthentication.schema, { secretRef: { name: 'keys' } }), {
    mode: 'Strict',
    secretRef: { data: { alice: { key: 'key-of-alice', metadata: {} }, bob } },
  })
  assert.deepEqual(settled(apiKeyAuthentication.schema, { secretSelector: { matchLabels: { a: 'b' } } }), {
    mode: 'Strict',
    secretRef: {
      data: {
        alice: { key: 'key-of-alice', metadata: {} },
        bob,
        'more-keys/alice': { key: 'another-key-of-alice', metadata: {} },
      },
    },
  })
})

test('a missing or broken object is reported with its path, and without the contents of a Secret', () => {
  const cases: [Schema, object, string][] = [
    [auth.schema, { secretRef: { name: 'gone' } }, 'spec.secretRef: there is no Secret `gone`'],
    [auth.schema, { secretRef: { name: 'keys' } }, 'spec.secretRef: Secret `keys` has no entry `Authorization`'],
    [
      auth.schema,
      { aws: { secretRef: { name: 'token' } } },
      'spec.aws.secretRef: Secret `token` has no entry `accessKey`',
    ],
    [
      basicAuthentication.schema,
      { secretRef: { name: 'bad-users' } },
      'spec.secretRef: Secret `bad-users` holds something else than a hash of a known kind in line 1',
    ],
    [
      apiKeyAuthentication.schema,
      { secretRef: { name: 'short' } },
      'spec: Secret `short` holds no API key in its entry `alice`',
    ],
    [
      tls.schema,
      { mtlsCertificateRef: [{ name: 'no-client' }] },
      'spec.mtlsCertificateRef: Secret `no-client`: not a certificate and its key',
    ],
    [
      tls.schema,
      { mtlsCertificateRef: [{ name: 'no-trust' }] },
      'spec.mtlsCertificateRef: Secret `no-trust`, entry `ca.crt`: a certificate cannot be read',
    ],
    [
      tls.schema,
      { caCertificateRefs: [{ name: 'bad-ca' }] },
      'spec.caCertificateRefs: ConfigMap `bad-ca`: a certificate cannot be read',
    ],
    [tls.schema, { caCertificateRefs: [{ name: 'x' }] }, 'spec.caCertificateRefs: ConfigMap `x` has no entry `ca.crt`'],
  ]
  for (const [schema, written, expected] of cases) assert.equal(problemOf(schema, written), expected)
})

test('resources are read as strictly as the API server reads them', () => {
  const refused: [Schema, unknown][] = [
    [timeouts.schema, { request: '1.5s' }],
    [timeouts.schema, { request: '1us' }],
    [authorization.schema, { action: 'allow', policy: { matchExpressions: ['true'] } }],
    [authorization.schema, { rules: ['true'] }],
    [authorization.schema, {}],
    [tunnel.schema, { backendRef: { name: 'x' } }],
    [auth.schema, { secretRef: { file: 'x' } }],
    [jwtAuthentication.schema, { providers: [{ issuer: 'a', jwks: { url: 'https://a/' } }] }],
    [apiKeyAuthentication.schema, { secretRef: { name: 'a' }, secretSelector: { matchLabels: { a: 'b' } } }],
  ]
  for (const [schema, written] of refused) {
    assert.ok(!validate(inResource(schema), written).ok, JSON.stringify(written))
  }
  assert.ok(validate(inResource(timeouts.schema), { request: '1m30s' }).ok)
  assert.ok(validate(inResource(authorization.schema), { policy: { matchExpressions: ['true'] } }).ok)
})

test('a resource must set keys that the file may leave empty', () => {
  const cases: [Schema, object, string][] = [
    [headerModifiers.schema, {}, 'request` or `response'],
    [mcp.schema, {}, 'authorization` or `authentication'],
    [accessLog.schema, { attributes: {} }, 'remove` or `add'],
  ]
  for (const [schema, written, keys] of cases) {
    assert.ok(validate(schema, written).ok)
    const read = validate(inResource(schema), written)
    assert.deepEqual(read.ok ? [] : read.problems.map(({ expected }) => expected), [`at least one of \`${keys}\``])
  }
})
