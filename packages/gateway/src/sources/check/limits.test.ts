import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { loadConfig } from '../file.ts'
import { printProblems } from '../print-problems.ts'

/** The limits of the spec's part 8, one test for each, by its name there. */

const key = { ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }), kid: 'a', alg: 'EdDSA' }
const jwks = JSON.stringify({ keys: [key] })

interface PolicyConfig {
  traffic?: object
  backend?: object
  frontend?: object
  policies?: object[]
  /** The backends of the route. */
  backends?: object[]
}

function load({ traffic = {}, backend, frontend, policies, backends = [{ host: '127.0.0.1:9' }] }: PolicyConfig) {
  const config = {
    ...(frontend && { frontend }),
    ...(policies && { policies }),
    binds: [
      {
        port: 0,
        listeners: [{ routes: [{ policies: { ...traffic, ...(backend && { backend }) }, backends }] }],
      },
    ],
  }
  return loadConfig(JSON.stringify(config), { file: 'gateway.yaml', dir: '.', env: {} })
}

function accepts(place: PolicyConfig): void {
  const result = load(place)
  assert.ok(result.ok, result.ok ? '' : printProblems(result.problems))
}

function refuses(place: PolicyConfig): void {
  const result = load(place)
  assert.ok(!result.ok, 'the config was accepted')
  assert.ok(
    result.problems.every(({ code }) => ['out_of_range', 'bad_format', 'missing_key'].includes(code)),
    printProblems(result.problems),
  )
}

/** Accepted with the smallest and the largest number of items, refused beside them. */
function counts(name: string, min: number, max: number, placeOf: (count: number) => PolicyConfig): void {
  test(name, () => {
    accepts(placeOf(min))
    accepts(placeOf(max))
    if (min > 0) refuses(placeOf(min - 1))
    refuses(placeOf(max + 1))
  })
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

const gateway = { kind: 'Gateway', name: 'default' }
const timeouts = { timeouts: { request: '1s' } }

counts('GwPolicy targetRefs: 1-16', 1, 16, (count) => ({
  policies: [{ name: 'p', targetRefs: times(count, () => gateway), traffic: timeouts }],
}))
counts('GwPolicy targetSelectors: 1-16', 1, 16, (count) => ({
  policies: [
    { name: 'p', targetSelectors: times(count, () => ({ kind: 'Route', matchLabels: {} })), traffic: timeouts },
  ],
}))
counts('JWT providers: 1-64', 1, 64, (count) => ({
  traffic: {
    jwtAuthentication: { providers: times(count, (i) => ({ issuer: `https://${i}.test/`, jwks: { inline: jwks } })) },
  },
}))
counts('audiences per provider: 1-64', 1, 64, (count) => ({
  traffic: {
    jwtAuthentication: {
      providers: [{ issuer: 'https://a.test/', audiences: times(count, String), jwks: { inline: jwks } }],
    },
  },
}))
counts('Basic users entries: 1-256', 1, 256, (count) => ({
  traffic: {
    basicAuthentication: { users: times(count, (i) => `user${i}:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=`) },
  },
}))
counts('Local rate limits: 1-16', 1, 16, (count) => ({
  traffic: { rateLimit: { local: times(count, () => ({ requests: 1, unit: 'Seconds' })) } },
}))
counts('conditional items: 1-16', 1, 16, (count) => ({
  traffic: { directResponse: { conditional: times(count, () => ({ condition: 'true', policy: { status: 200 } })) } },
}))
for (const list of ['set', 'add'] as const) {
  counts(`Header lists in transforms, ${list}: 1-16`, 1, 16, (count) => ({
    traffic: { transformation: { request: { [list]: times(count, (i) => ({ name: `x-${i}`, value: '"a"' })) } } },
  }))
}
counts('Header lists in transforms, remove: 1-16', 1, 16, (count) => ({
  traffic: { transformation: { response: { remove: times(count, (i) => `x-${i}`) } } },
}))
counts('metadata of transforms: 1-16', 1, 16, (count) => ({
  traffic: {
    transformation: { request: { metadata: Object.fromEntries(times(count, (i) => [`m${i}`, '"a"'])) } },
  },
}))
counts('HTTP/1 request headers: 1-4096', 1, 4096, (count) => ({ frontend: { http: { http1MaxHeaders: count } } }))
test('Inline JWKS size: 2-65536 chars', () => {
  const placeOf = (inline: string): PolicyConfig => ({
    traffic: { jwtAuthentication: { providers: [{ issuer: 'https://a.test/', jwks: { inline } }] } },
  })
  accepts(placeOf(jwks.padEnd(65_536)))
  refuses(placeOf(jwks.padEnd(65_537)))
  refuses(placeOf('x'))
})
counts('Backend inline key: at most 2048 chars', 1, 2048, (count) => ({
  backend: { auth: { key: 'k'.repeat(count) } },
}))
counts('AI priority groups: 1-8', 1, 8, (count) => ({
  backends: [{ ai: { groups: times(count, (i) => ({ providers: [{ name: `p${i}`, openai: {} }] })) } }],
}))
counts('AI providers per group: 1-16', 1, 16, (count) => ({
  backends: [{ ai: { groups: [{ providers: times(count, (i) => ({ name: `p${i}`, openai: {} })) }] } }],
}))
for (const phase of ['request', 'response'] as const) {
  counts(`Prompt guard entries, ${phase}: 1-8`, 1, 8, (count) => ({
    backend: { ai: { promptGuard: { [phase]: times(count, () => ({ regex: { builtins: ['Email'] } })) } } },
  }))
}
for (const list of ['defaults', 'overrides'] as const) {
  counts(`${list}: 1-64`, 1, 64, (count) => ({
    backend: { ai: { [list]: times(count, (i) => ({ field: `f${i}`, value: i })) } },
  }))
}
counts('transformations: 1-64', 1, 64, (count) => ({
  backend: { ai: { transformations: times(count, (i) => ({ field: `f${i}`, expression: '"a"' })) } },
}))
counts('modelAliases: at most 64', 0, 64, (count) => ({
  backend: { ai: { modelAliases: Object.fromEntries(times(count, (i) => [`alias${i}`, 'model'])) } },
}))
counts('Local rate limits of tokens: 1-16', 1, 16, (count) => ({
  traffic: { rateLimit: { local: times(count, () => ({ tokens: 1, unit: 'Minutes' })) } },
}))
counts('access log attributes to remove: 1-32', 1, 32, (count) => ({
  frontend: { accessLog: { attributes: { remove: times(count, () => 'http.method') } } },
}))
counts('metric attributes: 1-16', 1, 16, (count) => ({
  frontend: { metrics: { attributes: { add: times(count, (i) => ({ name: `label_${i}`, expression: '"a"' })) } } },
}))

/** The policies of a config that loads, with defaults. */
function effective(place: PolicyConfig) {
  const result = load(place)
  assert.ok(result.ok, result.ok ? '' : printProblems(result.problems))
  return result.ir.policies
}

test('defaults: 100 headers, 10 minutes idle, frames of 16kb, heads of 16Ki, 15s handshake, keepalive 9/180s/180s', () => {
  const [policy] = effective({})
  const { http, tls, tcp } = policy!.frontend!
  assert.equal(http?.http1MaxHeaders, 100)
  // Policies and model calls have defaults of their own: `transformation/buffering.test.ts`.
  assert.equal(http?.maxBufferSize, undefined)
  assert.equal(http?.http1IdleTimeout, 600_000)
  assert.equal(http?.http2FrameSize, 16_384)
  assert.equal(http?.http2MaxHeaderSize, 16_384)
  assert.equal(tls?.handshakeTimeout, 15_000)
  assert.deepEqual(tcp?.keepalive, { retries: 9, time: 180_000, interval: 180_000 })
})

test('Backend eviction duration: 3s by default', () => {
  const policies = effective({ backend: { health: { eviction: {} } } })
  assert.equal(policies.find((policy) => policy.backend?.health)?.backend?.health?.eviction?.duration, 3_000)
})

test('JWKS cache duration: 5m by default', () => {
  const config = {
    backends: [{ name: 'idp', static: { host: 'idp.test', port: 443 } }],
    binds: [
      {
        port: 0,
        listeners: [
          {
            routes: [
              {
                policies: {
                  jwtAuthentication: {
                    providers: [
                      {
                        issuer: 'https://a.test/',
                        jwks: { remote: { backendRef: { name: 'idp' }, jwksPath: '.well-known/jwks.json' } },
                      },
                    ],
                  },
                },
                backends: [{ backend: 'idp' }],
              },
            ],
          },
        ],
      },
    ],
  }
  const result = loadConfig(JSON.stringify(config), { file: 'gateway.yaml', dir: '.', env: {} })
  assert.ok(result.ok, result.ok ? '' : printProblems(result.problems))
  const jwt = result.ir.policies.find((policy) => policy.traffic?.jwtAuthentication)?.traffic?.jwtAuthentication
  assert.equal(jwt?.providers[0]?.jwks.remote?.cacheDuration, 300_000)
})

test('TLS versions: 1.2 and 1.3 only', () => {
  accepts({ frontend: { tls: { minProtocolVersion: '1.2', maxProtocolVersion: '1.3' } } })
  for (const version of ['1.1', '1.0', '1.4']) {
    assert.ok(!load({ frontend: { tls: { minProtocolVersion: version } } }).ok, version)
  }
})

counts('MCP targets: 1-32', 1, 32, (count) => ({
  backends: [{ mcp: { targets: times(count, (i) => ({ name: `t${i}`, static: { host: '127.0.0.1', port: 9 } })) } }],
}))
