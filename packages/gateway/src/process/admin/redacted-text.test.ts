import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { stringify } from 'yaml'
import { restoreHidden } from '../config-edit/hidden-values.ts'
import { secretPaths, written } from './testing/written-secrets.ts'
import { redactedConfigText } from './redacted-text.ts'

test('secrets are hidden in their places, all else stays as it was written', () => {
  const text = `# apiKey: sk-in-a-comment
binds:
- port: 8080   # the port
  listeners:
  - policies: { auth: { key: sk-of-a-policy } }
    tls: { cert: ./tls.crt, key: 'inline-key' }
    routes:
    - policies: { backendAuth: { key: "\${OPENAI_API_KEY}" }, x: "# password: not a comment" }
      backends:
      - ai: { provider: { openai: {} } }
        policies:
          backendAuth:
            key: >
              sk-folded
              over lines
  headers: [{ name: authorization, value: Bearer abc.def }]
  url: https://user:hunter2@example.com/a?access_token=t0ken&b=1
`
  const shown = redactedConfigText(text) ?? ''
  for (const secret of ['sk-in', 'sk-of-a-policy', 'inline-key', 'sk-folded', 'abc.def', 'hunter2', 't0ken'])
    assert.ok(!shown.includes(secret), `${secret} in ${shown}`)
  for (const plain of [
    'port: 8080   # the port',
    './tls.crt',
    '${OPENAI_API_KEY}',
    '"# password: not a comment"',
    '&b=1',
  ])
    assert.ok(shown.includes(plain), `${plain} in ${shown}`)
})

test('an anchor that an alias uses as a secret is hidden where it stands', () => {
  assert.equal(redactedConfigText('a: &a plain\npassword: *a\n'), 'a: &a "<redacted>"\npassword: *a\n')
})

test('broken YAML is not shown', () => {
  assert.equal(redactedConfigText('a: [\npassword: x'), null)
})

test('values that the schema marks as secret are redacted under any key, and their owners stay', () => {
  const text = `binds:
- port: 80
  listeners:
  - policies:
      apiKeyAuthentication:
        secretRef:
          data:
            alice: sk-of-alice
            bob: { key: sk-of-bob-1, metadata: { team: red } }
            carol: { file: ./carol.key }
            dave: { env: DAVES_KEY }
      basicAuthentication: { users: ["erin:$apr1$abcdefgh$0123456789012345678901", "frank:abcdefghijklm"] }
    routes:
    - backends:
      - host: a:80
        policies: { auth: { azure: { secretRef: { data: { clientID: our-client-id, tenantID: our-tenant, clientSecret: shh-shh } } } } }
`
  const shown = redactedConfigText(text) ?? ''
  for (const secret of ['sk-of', '0123456', 'abcdefghijklm', 'our-client-id', 'our-tenant', 'shh'])
    assert.ok(!shown.includes(secret), `${secret} in ${shown}`)
  for (const plain of ['team: red', './carol.key', 'DAVES_KEY', '"erin:<redacted>"', 'bob: { key: "<redacted>"'])
    assert.ok(shown.includes(plain), `${plain} in ${shown}`)
})

test('comments lose what may be secret, and what is one elsewhere in the file', () => {
  const shown = (comment: string): string =>
    redactedConfigText(`auth: { key: sk-of-the-file }\n# ${comment}\n`)?.split('\n')[1] ?? ''
  for (const [comment, left] of [
    ['backendAuth: { key: abc, x: 1 }', 'backendAuth: { key: <redacted>'],
    ['for tests: apiKey = abc', 'for tests: apiKey = <redacted>'],
    ['was sk-of-the-file, once', 'was <redacted>, once'],
    ['old=sk-of-the-file', 'old=<redacted>'],
    ['- { name: authorization, value: abc }', '- { name: authorization, value: <redacted>'],
    ['curl -H "x-y: Bearer 0123456789"', 'curl -H "x-y: Bearer <redacted>'],
    ['- "erin:$apr1$abcdefgh$0123456789012345678901"', '- "erin:<redacted>'],
    ['Authorization: abc', 'Authorization: <redacted>'],
  ] as const)
    assert.equal(shown(comment), `# ${left}`)
  for (const comment of [
    'authorization: { rules: ["jwt.team == 1"] }',
    'who may pass, see https://example.com/a?b=1',
    'basic authentication of the users',
    '- { name: x-team, value: red }',
  ])
    assert.equal(shown(comment), `# ${comment}`)
  const lines = '# - name: authorization\n#   value: abc\n# - name: x-team\n#   value: red\n'
  assert.equal(redactedConfigText(lines), lines.replace('abc', '<redacted>'))
  const beside = 'authorization: # who may pass\n  rules: []\n'
  assert.equal(redactedConfigText(beside), beside)
})

test('a secret that is named by a variable, or is none of its own, is as it was', () => {
  const text = 'auth: { key: "${OPENAI_API_KEY}" } # ${OPENAI_API_KEY}\nratio: .nan\nlong: 12345678\n'
  assert.equal(redactedConfigText(text), text)
})

test('an anchor that is part of one secret and the whole of another is hidden whole', () => {
  const text = 'url: &a https://example.com/?token=abc&user=12345\npassword: *a\n'
  assert.equal(redactedConfigText(text), 'url: &a "<redacted>"\npassword: *a\n')
})

test('no value of a secret field is shown, wherever it stands and however it is written, and all is put back', () => {
  const places = secretPaths()
  assert.ok(places.length > 20, String(places.length))
  fc.assert(
    fc.property(written(places), ({ text, secrets }) => {
      const shown = redactedConfigText(text) ?? assert.fail(text)
      for (const secret of secrets) assert.ok(!shown.includes(secret), `${secret}\n${text}\n${shown}`)
      const restored = restoreHidden(shown, text)
      assert.ok(restored.ok, `${text}\n${JSON.stringify(restored)}`)
      assert.equal(restored.edited.text, text)
    }),
    { numRuns: 600 },
  )
})

test('no secret is left, however a config is nested or written', () => {
  const secret = 'S3CRET-VALUE'
  const leaf = fc.oneof(fc.constant('plain'), fc.integer(), fc.boolean(), fc.constant(null))
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom('a', 'b-c', 'password', 'apiKey', 'token'),
        fc.oneof(tie('tree'), fc.constant(secret)),
        { noNullPrototype: true },
      ),
    ),
  }))
  const isSecretPlace = (value: unknown, isSecret: boolean): unknown => {
    if (value === secret) return isSecret ? secret : 'plain'
    if (Array.isArray(value)) return value.map((item) => isSecretPlace(item, isSecret))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, child]) => [name, isSecretPlace(child, /password|apiKey|token/.test(name))]),
    )
  }
  fc.assert(
    fc.property(tree, fc.boolean(), (value, flow) => {
      const text = stringify(isSecretPlace(value, false), { collectionStyle: flow ? 'flow' : 'block' })
      assert.ok(!(redactedConfigText(text) ?? '').includes(secret), text)
    }),
  )
})

test('expressions by the name of key are shown', () => {
  const text = `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        rateLimit: { local: [{ requests: 2, unit: Hours, key: jwt.sub }] }
        extAuth: { backendRef: { name: a }, cache: { key: [jwt.sub, request.path], ttl: 1m } }
`
  assert.equal(redactedConfigText(text), text)
})
