import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createAuthority } from '../testing/certificates.ts'
import { root } from '../testing/docs/docs-pages.ts'
import { lintPath, lintText, printFinding } from './lint.ts'

const NOW = Date.parse('2026-06-01T00:00:00Z')
const lint = (text: string, env = {}) => lintText(text, { file: 'gateway.yaml', dir: root, env, now: NOW })
const linesOf = (text: string): string[] => lint(text).findings.map((each) => `${each.location.line}:${each.code}`)

const KEYS = `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication:
          secretRef:
            data:
              ann: k-4f2a-93b1-77c0
      backends: [{ host: "127.0.0.1:9000" }]
`

describe('lint', () => {
  test('finds nothing in the examples', () => {
    const authority = createAuthority()
    const { cert, key } = authority.issue({ names: ['*.example.com', 'api.example.com'], validToDays: 365 })
    const env = { ALICE_KEY: 'alice-key-0123456789', LIBRARY_KEY: 'k', OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' }
    const files = readdirSync(join(root, 'examples')).filter((file) => /(?<!\.test)\.yaml$/.test(file))
    assert.ok(files.length >= 21)
    for (const file of files) {
      const { findings } = lintText(readFileSync(join(root, 'examples', file), 'utf8'), {
        ...{ file, dir: join(root, 'examples'), env, now: Date.now() },
        readFile: (path) => (path.endsWith('.key') ? key : path.includes('ca.crt') ? authority.cert : cert),
      })
      assert.deepEqual(findings.map(printFinding), [], file)
    }
  })

  test('prints the location, the path, the code and the fix', () => {
    const [finding] = lint(KEYS).findings
    assert.ok(finding !== undefined)
    const at = 'binds[0].listeners[0].routes[0].policies.apiKeyAuthentication.secretRef.data.ann'
    assert.equal(
      printFinding(finding).split('\n')[0],
      `gateway.yaml:9:15: ${at}: found a secret in plain text, expected a variable, a file or a hash [secret-in-plain-text]`,
    )
    assert.match(printFinding(finding), /\n {4}Put the secret into an environment variable/)
    assert.doesNotMatch(printFinding(finding), /k-4f2a/)
  })

  test('a comment with a code and a reason ignores findings of one line', () => {
    const comment = '# portico-lint-ignore secret-in-plain-text a key for this machine'
    const above = KEYS.replace('              ann', `              ${comment}\n              ann`)
    const beside = KEYS.replace('77c0\n', `77c0 ${comment}\n`)
    for (const text of [above, beside]) {
      assert.deepEqual([lint(text).findings, lint(text).ignored], [[], 1])
    }
    // A comment on another line, with another code or without a reason ignores nothing, and is reported itself.
    assert.deepEqual(linesOf(`${comment}\n${KEYS}`), ['1:ignore-unused', '10:secret-in-plain-text'])
    assert.deepEqual(linesOf(beside.replace('secret-in-plain-text', 'regex-slow')), [
      '9:secret-in-plain-text',
      '9:ignore-unused',
    ])
    for (const bad of ['secret-in-plain-text', 'secrets a reason', '']) {
      const text = KEYS.replace('77c0\n', `77c0 # portico-lint-ignore ${bad}\n`)
      assert.deepEqual(linesOf(text), ['9:secret-in-plain-text', '9:ignore-malformed'], bad)
    }
  })

  test('a variable, a file and a hash are no secrets in plain text', () => {
    for (const value of ['${KEY}', '{ env: KEY }', `{ keyHash: "sha256:${'a'.repeat(64)}" }`]) {
      const { findings } = lint(KEYS.replace('k-4f2a-93b1-77c0', value), { KEY: 'k-4f2a-93b1-77c0' })
      assert.deepEqual(findings, [], value)
    }
    const long = KEYS.replace('k-4f2a-93b1-77c0', '{ key: k-4f2a-93b1-77c0, metadata: { plan: gold } }')
    assert.deepEqual(linesOf(long), ['9:secret-in-plain-text'])
  })

  test('a config that cannot be loaded has its problems as errors', () => {
    const { findings } = lint(KEYS.replace('port: 8080', 'port: many'))
    assert.deepEqual(
      findings.map(({ code, severity, location: { line } }) => [code, severity, line]),
      [['wrong-type', 'error', 2]],
    )
  })

  test('a policy of several routes is reported once, at its own line', () => {
    const text =
      `${KEYS.replace('    - policies:', '    - name: a\n      backends: [{ host: "127.0.0.1:9001" }]\n      matches: [{ path: { exact: /a } }]\n    - name: b\n      policies:')}policies:
- name: pages
  targetRefs: [{ kind: Route, name: a }, { kind: Route, name: b }]
  traffic:
    cors: { allowOrigins: ["*"], allowCredentials: true }
`.replace('k-4f2a-93b1-77c0', '{ env: KEY }')
    const { findings } = lint(text, { KEY: 'k-4f2a-93b1-77c0' })
    assert.deepEqual(
      findings.map(({ code, location: { line, path } }) => [code, line, path]),
      [['cors-any-origin-with-credentials', 19, 'policies[0].traffic.cors.allowOrigins[0]']],
    )
  })

  test('locations are right beside a port of UDP and TCP, and in the short form of models', () => {
    const mixed = `binds:
- port: 5300
  listeners:
  - { name: dns, protocol: UDP, routes: [{ backends: [{ host: "10.0.0.2:53" }] }] }
  - { name: tcp, protocol: TCP, routes: [{ backends: [{ host: "10.0.0.2:53" }] }] }
- port: 8080
  listeners:
  - routes:
    - matches: [{ method: get }]
      backends: [{ host: "127.0.0.1:9000" }]
`
    assert.deepEqual(linesOf(mixed), ['9:method-lower-case'])
    const short = `llm:
  port: 4000
  models: [{ name: a, provider: { mock: {} } }]
  policies:
    apiKeyAuthentication: { mode: Optional, secretRef: { data: { ann: k-4f2a-93b1-77c0 } } }
`
    assert.deepEqual(linesOf(short), ['5:optional-authentication', '5:secret-in-plain-text'])
  })

  test('manifests are linted at the lines of their resources', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'portico-lint-'))
    t.after(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'shop.yaml'), MANIFESTS)
    const { findings } = await lintPath(folder, { env: {}, now: NOW })
    assert.deepEqual(
      findings.map(({ code, location: { line, path } }) => [code, line, path]),
      [
        ['route-unreachable', 20, 'HTTPRoute shop/orders-again spec.rules[0]'],
        ['cors-any-origin-with-credentials', 28, 'GwPolicy shop/pages spec.traffic.cors.allowOrigins[0]'],
      ],
    )
  })
})

const MANIFESTS = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: web, namespace: shop }
spec:
  gatewayClassName: portico
  listeners: [{ name: http, port: 8080, protocol: HTTP }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: orders, namespace: shop }
spec:
  parentRefs: [{ name: web }]
  rules: [{ filters: [{ type: RequestRedirect, requestRedirect: { hostname: shop.example.com } }] }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: orders-again, namespace: shop }
spec:
  parentRefs: [{ name: web }]
  rules: [{ filters: [{ type: RequestRedirect, requestRedirect: { hostname: shop.example.org } }] }]
---
apiVersion: portico.dev/v1alpha1
kind: GwPolicy
metadata: { name: pages, namespace: shop }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: orders }]
  traffic:
    cors: { allowOrigins: ["*"], allowCredentials: true }
`
