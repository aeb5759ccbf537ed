import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { checkCompile } from '../../compile/check.ts'
import { allPolicies } from '../../policies/index.ts'
import { loadConfig } from '../../sources/file.ts'
import { printProblems } from '../../sources/print-problems.ts'
import { request } from '../../testing/client.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../testing/scene.ts'
import { createSigningKey, ISSUER, keySetOf, sign } from '../../testing/services/issuer.ts'
import { counting, useLimitServer } from '../../testing/services/limit-server.ts'
import '../../testing/all-features.ts'

const key = createSigningKey('main')
const jwks = { inline: keySetOf(key) }
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` })
// The bcrypt hash of the password `secret`.
const users = ['alice:$2y$04$0LlrKdGzhnJOGxe7KgqIJO5SL4Kx58ry5fWpG/O4CkCTWszILvLyO']

type Ask = NonNullable<Parameters<typeof request>[1]>

interface Case {
  config: object
  passes: Ask | null
  fails: Ask
  /** The expected status and text of the shadow outcome for the request in `fails`. */
  denied: [number, string]
}

/** By policy name: its config, a request that the policy would allow, and a request that it would deny. */
const CASES: Record<string, () => Promise<Case>> = {
  authorization: async () => ({
    config: { rules: ['request.method == "GET"'] },
    passes: {},
    fails: { method: 'POST', body: 'x' },
    denied: [403, 'would have denied, no allow rule matched'],
  }),
  jwtAuthentication: async () => ({
    config: { providers: [{ issuer: ISSUER, jwks }] },
    passes: { headers: bearer(await sign(key)) },
    fails: {},
    denied: [401, 'would have denied: no bearer token found'],
  }),
  mcpAuthentication: async () => ({
    config: { issuer: ISSUER, jwks },
    passes: { headers: bearer(await sign(key)) },
    fails: { headers: bearer('abc') },
    denied: [401, 'would have denied: the token is malformed'],
  }),
  apiKeyAuthentication: async () => ({
    config: { secretRef: { data: { ann: { key: 'right-and-long' } } } },
    passes: { headers: bearer('right-and-long') },
    fails: { headers: bearer('wrong') },
    denied: [401, 'would have denied: invalid credentials'],
  }),
  basicAuthentication: async () => ({
    config: { users },
    passes: { headers: basic('alice:secret') },
    fails: { headers: basic('alice:wrong') },
    denied: [401, 'would have denied: invalid credentials'],
  }),
  cors: async () => ({
    config: { allowOrigins: ['https://a.test'] },
    passes: { headers: { origin: 'https://a.test' } },
    fails: { headers: { origin: 'https://b.test' } },
    denied: [200, 'would have denied: origin https://b.test not allowed'],
  }),
  csrf: async () => ({
    config: {},
    passes: { method: 'POST', body: 'x' },
    fails: { method: 'POST', body: 'x', headers: { origin: 'https://b.test' } },
    denied: [403, 'would have denied: CSRF validation failed'],
  }),
  rateLimit: async () => ({
    config: { local: [{ requests: 1, unit: 'Hours' }] },
    passes: {},
    fails: {},
    denied: [429, 'would have denied: rate limit exceeded: 1/Hours'],
  }),
}

async function setUp(t: TestContext, policies: object) {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([{ ...routeTo(origin, policies), name: 'r' }]))
  const outcomes = (index: number) => {
    const found = gateway.records[index]?.shadows?.outcomes ?? []
    return found.map(({ policy, outcome, status, text }) => [policy, outcome, status, text])
  }
  return { origin, gateway, outcomes, ask: (options: Ask = {}) => request(gateway.port(), options) }
}

for (const [policy, makeCase] of Object.entries(CASES)) {
  test(`a shadow of ${policy} changes nothing, and says what it would have done`, async (t) => {
    const { config, passes, fails, denied } = await makeCase()
    const plain = await setUp(t, {})
    for (const policies of [{ [policy]: { ...config, mode: 'Shadow' } }, { shadow: { [policy]: config } }]) {
      const shadowed = await setUp(t, policies)
      let sent = 0
      for (const options of [passes ?? {}, fails]) {
        const [expected, found] = [await plain.ask(options), await shadowed.ask(options)]
        assert.deepEqual([found.status, found.body], [200, expected.body])
        assert.deepEqual(Object.keys(found.headers), Object.keys(expected.headers))
        assert.deepEqual(headersFor(shadowed.origin), headersFor(plain.origin))
        await shadowed.gateway.finished(++sent)
      }
      assert.deepEqual(shadowed.outcomes(0), [[policy, 'allowed', null, 'would have allowed']])
      assert.deepEqual(shadowed.outcomes(1), [[policy, 'denied', ...denied]])
      assert.deepEqual(
        shadowed.gateway.records.map(({ reason, error }) => [reason, error]),
        [
          ['Upstream', null],
          ['Upstream', null],
        ],
      )
    }
  })
}

/** The headers of the last request, without those that contain a port or an id. */
function headersFor({ seen }: Awaited<ReturnType<typeof useOrigin>>): object {
  const { host: _host, 'x-forwarded-host': _name, 'x-request-id': _id, ...headers } = seen.at(-1)?.headers ?? {}
  return headers
}

/** Policies that call other services; their shadows are tested in `outside-calls.test.ts`. */
const CALLING = new Set(['budget', 'extAuth'])

/**
 * Policies that decide nothing about a request, or whose shadow would be useless; the config rejects them under
 * `shadow`.
 */
const WITHOUT_SHADOW = new Set([
  ...['abort', 'delay', 'directResponse', 'extProc', 'headerModifiers', 'hostRewrite', 'requestMirror'],
  ...['requestRedirect', 'retry', 'sessionPersistence', 'timeouts', 'transformation', 'upgrades', 'urlRewrite'],
])

test('every traffic policy has a shadow, with a case above, or is refused as one', () => {
  for (const { name, section, decides } of allPolicies) {
    if (section !== 'traffic') {
      const loaded = loadConfig(JSON.stringify(shadowIn(section, name)), OPTIONS)
      assert.equal(loaded.ok, decides === true, `${section}.${name}`)
      assert.match(loaded.ok ? '' : printProblems(loaded.problems), decides === true ? /^$/ : /unknown key/)
      continue
    }
    assert.equal(decides === true, name in CASES || CALLING.has(name), `${name} decides and needs a case, or does not`)
    assert.notEqual(decides === true, WITHOUT_SHADOW.has(name), name)
    if (decides === true) continue
    const loaded = loadConfig(JSON.stringify(httpConfig([{ policies: { shadow: { [name]: {} } } }])), OPTIONS)
    assert.match(loaded.ok ? '' : printProblems(loaded.problems), new RegExp(`unknown key \`${name}\``))
  }
})

function shadowIn(section: string, name: string): object {
  const shadow = { shadow: { [name]: { rules: ['true'] } } }
  if (section === 'frontend') return { frontend: shadow, ...httpConfig([]) }
  return httpConfig([{ backends: [{ host: '127.0.0.1:1', policies: shadow }] }])
}

test('a shadow limit counts apart from the limit that holds', async (t) => {
  const limit = (requests: number) => ({ local: [{ requests, unit: 'Hours' }] })
  const { ask, outcomes, gateway } = await setUp(t, { rateLimit: limit(3), shadow: { rateLimit: limit(2) } })
  const answers = []
  for (let i = 0; i < 4; i++) answers.push(await ask())
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers['x-ratelimit-remaining']]),
    [
      [200, '2'],
      [200, '1'],
      [200, '0'],
      [429, '0'],
    ],
  )
  await gateway.finished(4)
  assert.deepEqual(
    answers.map((_, index) => outcomes(index)[0]?.[1]),
    ['allowed', 'allowed', 'denied', 'denied'],
  )
})

test('a shadow that reads an identity waits for the shadow that finds the identity', async (t) => {
  const { ask, outcomes, gateway } = await setUp(t, {
    shadow: { basicAuthentication: { users }, authorization: { rules: ['basicAuth.username == "alice"'] } },
  })
  let sent = 0
  for (const pair of ['alice:secret', 'alice:wrong']) {
    assert.equal((await ask({ headers: basic(pair) })).status, 200)
    await gateway.finished(++sent)
  }
  assert.deepEqual(
    [0, 1].map((index) => outcomes(index).map(([policy, outcome]) => `${policy} ${outcome}`)),
    [
      ['basicAuthentication allowed', 'authorization allowed'],
      ['basicAuthentication denied', 'authorization denied'],
    ],
  )
})

test('a shadow next to a policy that holds sees the credential that this policy removes', async (t) => {
  const keys = (name: string) => ({ secretRef: { data: { [name]: { key: `${name}-and-long` } } } })
  const { ask, origin, outcomes, gateway } = await setUp(t, {
    apiKeyAuthentication: keys('old'),
    shadow: { apiKeyAuthentication: keys('new') },
  })
  assert.equal((await ask({ headers: bearer('old-and-long') })).status, 200)
  assert.equal((await ask({ headers: bearer('new-and-long') })).status, 401)
  await gateway.finished(2)
  assert.equal(origin.seen[0]?.headers.authorization, undefined)
  assert.deepEqual(
    [0, 1].map((index) => outcomes(index)[0]?.[1]),
    ['denied', 'allowed'],
  )
})

test('a shadow of MCP OAuth registers no client at the identity provider', async (t) => {
  const provider = await useOrigin(t)
  const mcpAuthentication = { issuer: `http://127.0.0.1:${provider.port}/realms/r`, provider: 'Keycloak', jwks }
  const { ask, origin, outcomes, gateway } = await setUp(t, { shadow: { mcpAuthentication } })
  const path = '/.well-known/oauth-authorization-server/client-registration'
  assert.equal((await ask({ method: 'POST', path, body: '{}' })).status, 200)
  await gateway.finished(1)
  assert.equal(outcomes(0)[0]?.[1], 'allowed')
  assert.deepEqual([origin.seen.length, provider.seen.length], [1, 0])
})

test('a rate limit service counts a shadow in a domain of its own, and the request does not wait', async (t) => {
  const limits = await useLimitServer(t, counting(1))
  const descriptors = [{ entries: [{ name: 'all', expression: '"1"' }] }]
  const global = { backendRef: { host: limits.host }, domain: 'trial', descriptors, timeout: '10s' }
  const { ask, outcomes, gateway } = await setUp(t, { shadow: { rateLimit: { global } } })
  for (let i = 0; i < 2; i++) {
    const answer = await ask()
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['x-ratelimit-limit'], undefined)
    await gateway.finished(i + 1)
  }
  assert.deepEqual(
    [0, 1].map((index) => outcomes(index)[0]),
    [
      ['rateLimit', 'allowed', null, 'would have allowed'],
      ['rateLimit', 'denied', 429, 'would have denied: rate limit exceeded: trial'],
    ],
  )
})

test('a shadow that would be counted in the domain of a limit that holds is rejected', () => {
  const descriptors = [{ entries: [{ name: 'all', expression: '"1"' }] }]
  const rateLimit = (domain: string) => ({ global: { backendRef: { host: '127.0.0.1:1' }, domain, descriptors } })
  const faults = (domain: string): string[] => {
    const policies = { rateLimit: rateLimit('shop'), shadow: { rateLimit: rateLimit(domain) } }
    const loaded = loadConfig(JSON.stringify(httpConfig([{ policies }])), OPTIONS)
    assert.ok(loaded.ok, loaded.ok ? '' : printProblems(loaded.problems))
    return checkCompile(loaded.ir).map(({ message }) => message)
  }
  assert.deepEqual(faults('trial'), [])
  assert.match(faults('shop').join(), /found the domain "shop" of an enforced rate limit/)
})

const OPTIONS = { file: 'a.yaml', dir: '.', env: {} }
