import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { stringify } from 'yaml'
import { shownText } from './shown-text.ts'

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
  const shown = shownText(text) ?? ''
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
  assert.equal(shownText('a: &a plain\npassword: *a\n'), 'a: &a "<redacted>"\npassword: *a\n')
})

test('what is no YAML is not shown', () => {
  assert.equal(shownText('a: [\npassword: x'), null)
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
      assert.ok(!(shownText(text) ?? '').includes(secret), text)
    }),
  )
})
