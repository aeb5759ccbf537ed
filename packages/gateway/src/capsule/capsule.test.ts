import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { CLOCK, recordsOf, wholeConfig } from '../backtest/testing/recorded.ts'
import { TrustedIssuer } from '../config-tests/trusted-issuer.ts'
import { explain } from '../explain/explain.ts'
import type { SimulatedRequest } from '../simulate/outcome.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import { createAuthority } from '../testing/certificates.ts'
import { CAPSULE_FORMAT, type Capsule } from './capsule.ts'
import { makeCapsule } from './make-capsule.ts'
import { readCapsule } from './read-capsule.ts'
import { runCapsule } from './run-capsule.ts'

async function capsuleOf(yaml: string, request: Partial<SimulatedRequest>, before = 0): Promise<Capsule> {
  const config = await wholeConfig(yaml)
  const recorded = structuredClone(config.ir)
  issuer.trustIn(recorded)
  const requests = Array.from({ length: before + 1 }, () => request)
  const record = (await recordsOf({ ...config, ir: recorded }, requests)).at(-1)
  assert.ok(record !== undefined)
  return written(record, config)
}

async function written(record: RequestRecord, { ir }: Awaited<ReturnType<typeof wholeConfig>>): Promise<Capsule> {
  const config = { isKnown: true, ir, locate: () => null, live: 1, isEarlier: false }
  const capsule = await makeCapsule({ record, ir, explanation: explain(record, config) })
  assert.ok(typeof capsule === 'object', JSON.stringify(capsule))
  return capsule
}

/** Replays a capsule as `porticoctl test` does; returns the failures. */
async function replay(t: TestContext, capsule: Capsule): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-capsule-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'a.capsule.json')
  writeFileSync(file, JSON.stringify(capsule))
  const read = readCapsule(file)
  assert.ok(typeof read === 'object' && read !== null, JSON.stringify(read))
  const run = await runCapsule(read, file, { filter: null })
  assert.ok(run.ok, run.ok ? '' : run.problems.join('\n'))
  assert.equal(run.results.length, 1)
  return run.results.flatMap(({ failures }) => failures.map((failure) => JSON.stringify(failure)))
}

const issuer = new TrustedIssuer()
const BACKEND = 'backends: [{ host: "127.0.0.1:9000" }]'
const route = (policies: string, more = ''): string =>
  `${more}
binds: [{ port: 8080, listeners: [{ name: web, routes: [{ name: all, policies: { ${policies} }, ${BACKEND} }, { name: other, matches: [{ path: { exact: /other } }], policies: { cors: { allowOrigins: ["https://other.test"] } }, ${BACKEND} }] }] }]`
const bearer = (token: string) => ({ headers: [['authorization', `Bearer ${token}`] as const] })
const SECRET = 'very-secret-0123456789'
const sha = (algorithm: string, text: string, form: 'hex' | 'base64'): string =>
  createHash(algorithm).update(text).digest(form)

describe('a capsule', () => {
  test('replays a denial with the parts of the config that decided, and no others', async (t) => {
    const capsule = await capsuleOf(route(`authorization: { rules: [{ deny: 'request.path == "/a"' }] }`), {
      target: '/a',
    })
    assert.deepEqual([capsule.capsule, capsule.problem], [CAPSULE_FORMAT, null])
    assert.match(capsule.decision.headline, /authorization denied the request/)
    assert.deepEqual(
      capsule.config.routes.map(({ name }) => name),
      ['all'],
    )
    assert.ok(!JSON.stringify(capsule).includes('other.test'))
    assert.deepEqual(await replay(t, capsule), [])
    // Without the deny rule, the replayed request reaches the backend.
    const changed = structuredClone(capsule)
    changed.config.policies.splice(0)
    assert.match((await replay(t, changed)).join(''), /the answer of 127\.0\.0\.1:9000 is unknown/)
  })

  const cases: Record<string, { config: string; request: Partial<SimulatedRequest>; before?: number }> = {
    'an API key': {
      config: route(
        `apiKeyAuthentication: { secretRef: { data: { ann: { key: ${SECRET}, metadata: { group: staff } } } } }`,
      ),
      request: bearer(SECRET),
    },
    'an API key of which the config has a hash': {
      config: route(
        `apiKeyAuthentication: { secretRef: { data: { ann: { keyHash: "sha256:${sha('sha256', SECRET, 'hex')}" } } } }`,
      ),
      request: bearer(SECRET),
    },
    'a wrong API key': {
      config: route(`apiKeyAuthentication: { secretRef: { data: { ann: { key: key-of-ann-0123456 } } } }`),
      request: bearer(SECRET),
    },
    'a password': {
      config: route(`basicAuthentication: { users: ["ann:{SHA}${sha('sha1', SECRET, 'base64')}"] }`),
      request: { headers: [['authorization', `Basic ${Buffer.from(`ann:${SECRET}`).toString('base64')}`]] },
    },
    'a key for the backend': {
      config: route('', '').replace('127.0.0.1:9000" }', `127.0.0.1:9000", policies: { auth: { key: ${SECRET} } } }`),
      request: { target: `/a?token=${SECRET}` },
    },
    'a limit': { config: route('rateLimit: { local: [{ requests: 2, unit: Minutes }] }'), request: {}, before: 2 },
    'a path without a route': {
      config: route('').replace('name: all,', 'name: all, matches: [{ path: { exact: /all } }],'),
      request: { target: '/none' },
    },
    'a secret of the config in the path': {
      config: route(`apiKeyAuthentication: { secretRef: { data: { ann: { key: ${SECRET} } } } }`),
      request: { target: `/a/${SECRET}/b` },
    },
  }
  for (const [name, { config, request, before = 0 }] of Object.entries(cases)) {
    test(`replays a request with ${name}, without the secret`, async (t) => {
      const capsule = await capsuleOf(config, request, before)
      assert.equal(capsule.problem, null)
      const text = JSON.stringify(capsule)
      for (const secret of [SECRET, sha('sha256', SECRET, 'hex'), sha('sha1', SECRET, 'base64')]) {
        assert.ok(!text.includes(secret), text)
      }
      assert.deepEqual(await replay(t, capsule), [])
    })
  }

  test('replays a token by its claims', async (t) => {
    const config = route(
      'jwtAuthentication: { providers: [{ issuer: "https://idp.test/", jwks: { url: "https://idp.test/keys" } }] }, authorization: { rules: [{ require: \'jwt.sub == "bob"\' }] }',
    )
    const { ir } = await wholeConfig(config)
    const token = issuer.token({ sub: 'ann' }, ir, CLOCK)
    const capsule = await capsuleOf(config, bearer(token))
    assert.equal(capsule.problem, null)
    assert.match(JSON.stringify(capsule.test?.expect), /"status":403,"route":"all","by":"authorization","rule":1/)
    assert.ok(!JSON.stringify(capsule).includes(token))
    assert.deepEqual(await replay(t, capsule), [])
  })

  test('replays a listener with TLS, with a certificate of its own', async (t) => {
    const { cert, key } = createAuthority().issue({ names: ['a.test'] })
    const folder = mkdtempSync(join(tmpdir(), 'portico-capsule-'))
    t.after(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'cert.pem'), cert)
    writeFileSync(join(folder, 'key.pem'), key)
    const tls = `name: web, protocol: HTTPS, hostname: a.test, tls: { cert: ${join(folder, 'cert.pem')}, key: ${join(folder, 'key.pem')} }`
    const capsule = await capsuleOf(route('').replace('name: web', tls), { scheme: 'https' })
    assert.equal(capsule.problem, null)
    assert.ok(!JSON.stringify(capsule).includes('-----BEGIN'))
    assert.deepEqual(await replay(t, capsule), [])
  })

  test('says what cannot be replayed, and a replay of it fails', async (t) => {
    const config = await wholeConfig(route(''))
    const [record] = await recordsOf(config, [{}])
    assert.ok(record !== undefined)
    const capsule = await written({ ...record, outcome: 'aborted', status: 0 }, config)
    assert.deepEqual([capsule.test, capsule.problem], [null, 'the client left before a response'])
    const folder = mkdtempSync(join(tmpdir(), 'portico-capsule-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'a.json')
    for (const [value, problem] of [
      [capsule, 'the client left before a response'],
      [{ ...capsule, capsule: 2 }, /format 2, expected 1/],
      [{ ...capsule, config: { binds: [1] } }, /expected `config` with the lists/],
      [{ ...capsule, endpoints: { a: ['b'] } }, /expected `endpoints`/],
      [{ tests: [] }, null],
    ] as const) {
      writeFileSync(file, JSON.stringify(value))
      const read = readCapsule(file)
      if (problem instanceof RegExp) assert.match(typeof read === 'string' ? read : '', problem)
      else assert.equal(read, problem)
    }
    const broken = {
      ...capsule,
      test: { name: 'a', send: 'GET /', expect: {} },
      config: { ...capsule.config, routes: [{}] },
    }
    const run = await runCapsule(broken as unknown as Capsule, file, { filter: null })
    assert.equal(run.ok, false)
  })

  test('has no secret of the config or of the request, wherever they stand', async () => {
    const secret = fc.stringMatching(/^[A-Za-z][\w-]{9,30}$/)
    const input = fc.record({
      ...{ key: secret, hashed: secret, password: secret, forBackend: secret, query: secret, header: secret },
      place: fc.constantFrom('path', 'query', 'body', 'header', 'nowhere'),
    })
    const property = fc.asyncProperty(input, async ({ place, ...secrets }) => {
      const { key, hashed, password, forBackend, query, header } = secrets
      const policies = [
        `apiKeyAuthentication: { mode: Optional, location: { header: { name: x-key } }, secretRef: { data: { ann: { key: "${key}", metadata: { group: staff } }, bob: { keyHash: "sha256:${sha('sha256', hashed, 'hex')}" } } } }`,
        `basicAuthentication: { mode: Optional, users: ["eve:{SHA}${sha('sha1', password, 'base64')}"] }`,
        `transformation: { request: { set: [{ name: x-api-key, value: '"${header}"' }] } }`,
      ]
      const yaml = route(policies.join(', ')).replaceAll(
        '127.0.0.1:9000" }',
        `127.0.0.1:9000", policies: { auth: { key: "${forBackend}" } } }`,
      )
      const headers: [string, string][] = [
        ['x-key', key],
        ['authorization', `Basic ${Buffer.from(`eve:${password}`).toString('base64')}`],
        ['cookie', `session=${query}`],
        ...(place === 'header' ? ([['x-other', `a ${forBackend} b`]] as [string, string][]) : []),
      ]
      const target = `/${place === 'path' ? forBackend : 'a'}?api_key=${query}${place === 'query' ? `&b=${key}` : ''}`
      const body = Buffer.from(place === 'body' ? JSON.stringify({ password: query, key }) : '')
      const capsule = await capsuleOf(yaml, { target, headers, method: 'POST', body })
      assert.equal(capsule.problem, null)
      const text = JSON.stringify(capsule)
      for (const each of Object.values(secrets)) {
        assert.ok(!text.includes(each), `${each} in ${text}`)
      }
      assert.ok(!text.includes(sha('sha256', hashed, 'hex')) && !text.includes(sha('sha1', password, 'base64')))
    })
    await fc.assert(property, { numRuns: process.env['PROPERTIES'] === 'full' ? 200 : 15 })
  })
})
