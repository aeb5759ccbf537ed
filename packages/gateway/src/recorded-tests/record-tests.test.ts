import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { CLOCK, recordsOf, wholeConfig } from '../backtest/testing/recorded.ts'
import { loadTests } from '../config-tests/load-tests.ts'
import { runTests } from '../config-tests/run-tests.ts'
import { loadTestedConfig } from '../config-tests/tested-config.ts'
import { TrustedIssuer } from '../config-tests/trusted-issuer.ts'
import type { SimulatedRequest } from '../simulate/outcome.ts'
import type { WorldReply } from '../simulate/world.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import { recordTests, type RecordedTests } from './record-tests.ts'

const SECRET = 'key-of-ann-0123456789'
const HASHED = 'key-of-bob-0123456789'
const hashOf = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`

interface Case {
  readonly config: string
  readonly requests: readonly Partial<SimulatedRequest>[]
  readonly isBrief?: boolean
  readonly reply?: Partial<WorldReply>
  /** The config that the tests run against; the config of the records when unset. */
  readonly other?: string
}

/** Records requests, writes their tests, and runs the test file as `porticoctl test` does. */
async function roundTrip(t: TestContext, { config, requests, isBrief = false, reply = {}, other }: Case) {
  const recording = await wholeConfig(config)
  issuer.trustIn(recording.ir)
  const records = await recordsOf(recording, requests, { isBrief, reply })
  return { records, recorded: await testsOf(t, other ?? config, records) }
}

async function testsOf(t: TestContext, config: string, records: readonly RequestRecord[]): Promise<RecordedTests> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-recorded-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [path, file] = [join(folder, 'gateway.yaml'), join(folder, 'recorded.test.yaml')]
  writeFileSync(path, config)
  const loaded = await loadTestedConfig(path, { env: {}, gateway: null })
  assert.ok(loaded.ok, loaded.ok ? '' : loaded.problems.join('\n'))
  const recorded = await recordTests(records, loaded, {})
  if (recorded.tests.length === 0) return recorded
  const text = JSON.stringify({ config: 'gateway.yaml', tests: recorded.tests })
  for (const secret of [SECRET, HASHED]) assert.ok(!text.includes(secret))
  writeFileSync(file, text)
  const tests = loadTests(file)
  assert.ok(tests.ok, tests.ok ? '' : JSON.stringify(tests.problems))
  const run = await runTests(tests.value, { filter: null })
  assert.ok(run.ok)
  assert.deepEqual(
    run.results.flatMap(({ failures }) => failures.map(({ differences, unknown }) => [differences, unknown])),
    [],
  )
  return recorded
}

const issuer = new TrustedIssuer()
const BACKEND = 'backends: [{ host: "127.0.0.1:9000" }]'
const route = (policies: string): string =>
  `binds: [{ port: 8080, listeners: [{ name: web, routes: [{ name: all, policies: { ${policies} }, ${BACKEND} }] }] }]`
const bearer = (token: string) => ({ headers: [['authorization', `Bearer ${token}`] as const] })

describe('tests of records', () => {
  test('state what passed, with the route, the status and the answer of the backend', async (t) => {
    const { recorded } = await roundTrip(t, {
      config: route('transformation: { request: { set: [{ name: x-a, value: \'"1"\' }] } }'),
      requests: [
        { target: '/a?b=1', headers: [['x-b', '2']] },
        { target: '/a?b=1', headers: [['x-b', '2']] },
      ],
      reply: { status: 202 },
    })
    const [only] = recorded.tests
    assert.equal(recorded.tests.length, 1)
    assert.deepEqual([recorded.alike, recorded.impossible], [1, []])
    assert.deepEqual(only?.send, { method: 'GET', path: '/a?b=1', host: 'a.test', headers: { 'x-b': '2' } })
    assert.deepEqual(only.upstreams, { '127.0.0.1:9000': { status: 202 } })
    assert.deepEqual(only.expect, { route: 'all', status: 202, backend: '127.0.0.1:9000' })
  })

  test('state denials, with the policy, the rule and the cause', async (t) => {
    const { recorded } = await roundTrip(t, {
      config: route(`authorization: { rules: [{ deny: 'request.path == "/b"' }, { deny: 'request.path == "/a"' }] }`),
      requests: [{ target: '/a' }],
      isBrief: true,
    })
    assert.deepEqual(recorded.tests[0]?.expect, {
      ...{ route: 'all', status: 403, by: 'authorization', rule: 2, reason: 'deny_rule_true' },
    })
    assert.equal(recorded.tests[0].upstreams, undefined)
  })

  test('keys become names, also those of which the config has a hash', async (t) => {
    const keys = `data: { ann: { key: ${SECRET} }, bob: { keyHash: "${hashOf(HASHED)}" } }`
    const { recorded } = await roundTrip(t, {
      config: route(`apiKeyAuthentication: { secretRef: { ${keys} } }`),
      requests: [bearer(SECRET), bearer(HASHED), bearer('none'), {}],
    })
    assert.deepEqual(recorded.impossible, [])
    assert.deepEqual(
      recorded.tests.map(({ given, send }) => [given, (send as { headers?: object }).headers]),
      [
        [{ apiKey: 'ann' }, undefined],
        [{ apiKey: 'bob' }, undefined],
        [undefined, { authorization: 'Bearer stand-in' }],
        [undefined, undefined],
      ],
    )
  })

  test('tokens become claims, and a token that had expired is one that has', async (t) => {
    const config = route(
      'jwtAuthentication: { providers: [{ issuer: "https://idp.test/", jwks: { url: "https://idp.test/keys" } }] }',
    )
    const { ir } = await wholeConfig(config)
    const requests = [{ sub: 'ann' }, { sub: 'ann', exp: 1 }].map((claims) => bearer(issuer.token(claims, ir, CLOCK)))
    const { recorded } = await roundTrip(t, { config, requests })
    assert.deepEqual(recorded.impossible, [])
    assert.match(JSON.stringify(recorded.tests[0]?.given), /"sub":"ann"/)
    assert.deepEqual(recorded.tests[1]?.given, { jwt: { sub: 'stand-in', exp: 1 } })
    assert.deepEqual((recorded.tests[1].expect as { reason: string }).reason, 'jwt_expired')
  })

  test('a user has no password', async (t) => {
    const hash = `{SHA}${createHash('sha1').update(SECRET).digest('base64')}`
    const { recorded } = await roundTrip(t, {
      config: route(`basicAuthentication: { users: ["ann:${hash}"] }`),
      requests: [{ headers: [['authorization', `Basic ${Buffer.from(`ann:${SECRET}`).toString('base64')}`]] }],
    })
    assert.deepEqual(recorded.tests[0]?.given, { basic: { username: 'ann' } })
  })

  test('a limit is used up first', async (t) => {
    const { recorded } = await roundTrip(t, {
      config: route('rateLimit: { local: [{ requests: 2, unit: Minutes }] }'),
      requests: [{}, {}, {}],
    })
    assert.deepEqual([recorded.impossible.map(({ reason }) => reason), recorded.tests.length], [[], 2])
    assert.equal(recorded.tests[1]?.repeat, 3)
    assert.deepEqual((recorded.tests[1].expect as object[])[0], { times: 2 })
  })

  test('model calls and failures of backends have an answer that leads there', async (t) => {
    const llm = `binds: [{ port: 8080, listeners: [{ name: web, routes: [{ name: chat, backends: [{ ai: { provider: { openai: { model: gpt-x } } }, policies: { auth: { key: ${SECRET} } } }] }] }] }]`
    const body = Buffer.from(JSON.stringify({ model: 'house', messages: [{ role: 'user', content: 'hi' }] }))
    const completion = {
      ...{ id: 'a', object: 'chat.completion', created: 1, model: 'gpt-x' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    }
    const headers = [['content-type', 'application/json'] as const]
    const chat = { method: 'POST', target: '/v1/chat/completions', body, headers }
    const { recorded } = await roundTrip(t, {
      config: llm,
      requests: [chat],
      isBrief: true,
      reply: { headers: [['content-type', 'application/json']], body: Buffer.from(JSON.stringify(completion)) },
    })
    assert.deepEqual(recorded.impossible, [])
    assert.match(JSON.stringify(recorded.tests[0]?.expect), /"llm":\{"provider":"openai","model":"gpt-x"\}/)
    const broken = await roundTrip(t, { config: route(''), requests: [{}], reply: { fault: 'reset' } })
    assert.deepEqual(broken.recorded.impossible, [])
    assert.deepEqual(Object.values(broken.recorded.tests[0]?.upstreams ?? {}), [{ fault: 'reset' }])
  })

  test('a record that the config does not explain has a reason instead of a test', async (t) => {
    const { recorded } = await roundTrip(t, {
      config: route(''),
      other: route(`authorization: { rules: [{ deny: 'true' }] }`),
      requests: [{ target: '/a' }],
    })
    assert.deepEqual(recorded.tests, [])
    assert.match(recorded.impossible[0]?.reason ?? '', /^this config decides otherwise: status was 200, and is 403,/)
    const asked = await roundTrip(t, {
      config: route(''),
      other: route('extAuth: { backendRef: { host: "127.0.0.1:9100" }, http: {} }'),
      requests: [{}],
    })
    assert.match(asked.recorded.impossible[0]?.reason ?? '', /the answer of 127\.0\.0\.1:9100 is unknown/)
  })
})
