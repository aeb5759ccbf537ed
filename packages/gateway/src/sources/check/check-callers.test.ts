import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { loadConfig } from '../file.ts'
import { printProblem, printProblems } from '../print-problems.ts'

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwks = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'a' }] })
const ISSUER = `{ issuer: https://a.example, jwks: { inline: '${jwks}' } }`

function warningsOf(route: string, more: { listener?: string; policies?: string } = {}): string[] {
  const text = `binds: [{ port: 3000, listeners: [{ ${more.listener ?? ''} routes: [{ ${route}, backends: [{ host: "a:1" }] }] }] }]${more.policies === undefined ? '' : `\npolicies: [${more.policies}]`}`
  const loaded = loadConfig(text, { file: 'g.yaml', dir: '.', env: {} })
  if (!loaded.ok) assert.fail(printProblems(loaded.problems))
  return loaded.warnings.map(printProblem)
}

const limit = (key: string): string => `rateLimit: { local: [{ requests: 5, unit: Minutes, key: '${key}' }] }`

test('a limit by a caller whom no policy makes known is warned of', () => {
  for (const [key, policy] of [
    ['jwt.sub', 'jwtAuthentication'],
    ['apiKey.name', 'apiKeyAuthentication'],
    ['basicAuth.username', 'basicAuthentication'],
  ] as const) {
    const [warning, ...others] = warningsOf(`policies: { ${limit(key)} }`)
    assert.match(
      warning ?? '',
      new RegExp(`^g.yaml:1:\\d+: .*found a key that reads \`\\w+\`, .*expected .*\`${policy}\``),
    )
    assert.deepEqual(others, [])
  }
  const jwt = `jwtAuthentication: { providers: [${ISSUER}] }`
  assert.deepEqual(warningsOf(`policies: { ${limit('jwt.sub')}, ${jwt} }`), [])
  assert.deepEqual(warningsOf(`policies: { ${limit('jwt.sub')} }`, { listener: `policies: { ${jwt} },` }), [])
  const shared = `{ name: p, targetRefs: [{ kind: Gateway, name: default }], traffic: { ${jwt} } }`
  assert.deepEqual(warningsOf(`policies: { ${limit('jwt.sub')} }`, { policies: shared }), [])
  assert.deepEqual(warningsOf(`policies: { ${limit('request.headers["x-jwt.sub"]')} }`), [])
})

test('an issuer that is named twice is warned of', () => {
  const [warning] = warningsOf(`policies: { jwtAuthentication: { providers: [${ISSUER}, ${ISSUER}] } }`)
  assert.match(warning ?? '', /found issuer `https:\/\/a\.example` a second time/)
})

test('a redirect that puts a prefix before every path is warned of', () => {
  const redirect = (more = ''): string => `policies: { requestRedirect: { path: { prefix: /new }${more} } }`
  assert.match(warningsOf(redirect()).join(), /redirected without end/)
  assert.match(
    warningsOf(`${redirect()}, matches: [{ headers: [{ name: a, value: { exact: b } }] }]`).join(),
    /without end/,
  )
  assert.deepEqual(warningsOf(`${redirect()}, matches: [{ path: { pathPrefix: /old } }]`), [])
  assert.deepEqual(warningsOf(redirect(', authority: { full: b.example }')), [])
})

test("a key under Envoy's name is refused with the name that it has here", () => {
  for (const [key, suggestion] of [
    ['failOpen: true', 'failureMode: FailOpen'],
    ['failureModeAllow: true', 'failureMode: FailOpen'],
    ['failure_mode_allow: true', 'failureMode: FailOpen'],
    ['includeRequestBody: {}', 'forwardBody: { maxSize: … }'],
  ] as const) {
    const text = `binds: [{ port: 3000, listeners: [{ routes: [{ policies: { extAuth: { backendRef: { host: "a:1" }, ${key} } }, backends: [{ host: "a:1" }] }] }] }]`
    const loaded = loadConfig(text, { file: 'g.yaml', dir: '.', env: {} })
    assert.ok(!loaded.ok)
    assert.ok(printProblems(loaded.problems).includes(`write \`${suggestion}\``), printProblems(loaded.problems))
  }
})
