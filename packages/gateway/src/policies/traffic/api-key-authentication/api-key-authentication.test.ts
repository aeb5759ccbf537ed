import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { checkCompile } from '../../../compile/check.ts'
import { loadConfig } from '../../../sources/file.ts'
import { request, sendRaw } from '../../../testing/client.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

const keyHash = `sha256:${createHash('sha256').update('hashed-key-1').digest('hex').toUpperCase()}`
const data = {
  alice: 'alice-key-1',
  bob: { key: 'bob-key-12', metadata: { group: 'staff' } },
  carol: JSON.stringify({ key: 'carol-key-1', metadata: { group: 'guests' } }),
  dave: { keyHash, metadata: { group: 'staff' } },
}

async function setUp(t: TestContext, apiKeyAuthentication: object = {}, more: object = {}) {
  const origin = await useOrigin(t)
  const policies = { apiKeyAuthentication: { secretRef: { data }, ...apiKeyAuthentication }, ...more }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  const ask = (headers: Record<string, string> = {}, path = '/') => request(gateway.port(), { path, headers })
  return { origin, gateway, ask }
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

test('every known key opens the way, and the backend does not get it', async (t) => {
  const { origin, ask } = await setUp(t)
  for (const key of ['alice-key-1', 'bob-key-12', 'carol-key-1', 'hashed-key-1']) {
    assert.equal((await ask({ ...bearer(key), 'x-other': '1' })).status, 200, key)
  }
  for (const { headers } of origin.seen) {
    assert.equal(headers.authorization, undefined)
    assert.equal(headers['x-other'], '1')
  }
})

test('without a key, or with an unknown one, the client hears why', async (t) => {
  const { origin, gateway, ask } = await setUp(t)
  const missing = await ask()
  assert.equal(missing.status, 401)
  assert.equal(missing.headers['www-authenticate'], 'Bearer')
  assert.equal(missing.body, 'api key authentication failure: no API key found')
  const wrong = [
    'alice-key-2',
    'ALICE-KEY-1',
    'alice',
    keyHash,
    keyHash.slice(7),
    "' OR 1=1 --",
    '__proto__',
    'x'.repeat(9000),
  ]
  for (const key of wrong) {
    const answer = await ask(bearer(key))
    assert.equal(answer.status, 401)
    assert.equal(answer.body, 'api key authentication failure: invalid credentials')
  }
  await gateway.finished(wrong.length + 1)
  assert.ok(gateway.records.every(({ reason }) => reason === 'ApiKeyAuth'))
  assert.equal(origin.seen.length, 0)
})

test('two keys are one too many', async (t) => {
  const { gateway } = await setUp(t)
  const line = 'authorization: Bearer alice-key-1\r\n'
  const answer = await sendRaw(gateway.port(), `GET / HTTP/1.1\r\nhost: a\r\n${line}${line}\r\n`)
  assert.equal(answer.body, 'api key authentication failure: more than one API key found')
})

test('Optional lets requests without a key pass, and no others', async (t) => {
  const { ask } = await setUp(t, { mode: 'optional' })
  assert.equal((await ask()).status, 200)
  assert.equal((await ask(bearer('alice-key-2'))).status, 401)
  assert.equal((await ask(bearer('alice-key-1'))).status, 200)
})

test('a key may stand in another header, in the query or in a cookie', async (t) => {
  const header = await setUp(t, { location: { header: { name: 'x-api-key' } } })
  assert.equal((await header.ask({ 'X-API-Key': 'alice-key-1', authorization: 'Bearer other' })).status, 200)
  assert.equal(header.origin.seen[0]!.headers['x-api-key'], undefined)
  assert.equal(header.origin.seen[0]!.headers.authorization, 'Bearer other')
  const query = await setUp(t, { location: { queryParameter: { name: 'key' } } })
  assert.equal((await query.ask({}, '/a?key=alice%2Dkey-1&b=2')).status, 200)
  assert.equal(query.origin.seen[0]!.url, '/a?b=2')
  await query.gateway.finished(1)
  assert.equal(query.gateway.records[0]!.target, '/a?key=<redacted>&b=2')
  const cookie = await setUp(t, { location: { cookie: { name: 'key' } } })
  assert.equal((await cookie.ask({ cookie: 'a=1; key=alice-key-1' })).status, 200)
  assert.equal(cookie.origin.seen[0]!.headers.cookie, 'a=1')
})

test('keys may stand in files and variables', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'all.json'), JSON.stringify(data))
  writeFileSync(join(dir, 'one.key'), 'alice-key-1\n')
  const env = { BOB: JSON.stringify(data.bob) }
  for (const secretRef of [{ file: 'all.json' }, { data: { a: { file: 'one.key' }, b: { env: 'BOB' } } }]) {
    const origin = await useOrigin(t)
    const config = httpConfig([routeTo(origin, { apiKeyAuthentication: { secretRef } })])
    const gateway = await useGateway(t, config, { dir, env })
    const statusOf = async (key: string) => (await request(gateway.port(), { headers: bearer(key) })).status
    assert.deepEqual(await Promise.all(['alice-key-1', 'bob-key-12', 'nobody-key'].map(statusOf)), [200, 200, 401])
  }
})

test('a key is valid until it expires, unless it is disabled', async (t) => {
  const time = { now: Date.parse('2027-01-30T00:00:00Z') }
  const entries = {
    alice: { key: 'alice-key-1', expires: '2027-01-31T00:00:00Z' },
    bob: JSON.stringify({ key: 'bob-key-12', disabled: true }),
    carol: { key: 'carol-key-1', disabled: false },
  }
  const origin = await useOrigin(t)
  const config = httpConfig([routeTo(origin, { apiKeyAuthentication: { secretRef: { data: entries } } })])
  const gateway = await useGateway(t, config, { clock: () => time.now })
  const ask = async (key: string) => {
    const { status, body } = await request(gateway.port(), { headers: bearer(key) })
    return status === 200 ? 200 : body
  }
  assert.deepEqual(await Promise.all(['alice-key-1', 'carol-key-1'].map(ask)), [200, 200])
  assert.equal(await ask('bob-key-12'), 'api key authentication failure: the API key is disabled')
  time.now = Date.parse('2027-01-31T00:00:00Z')
  assert.equal(await ask('alice-key-1'), 'api key authentication failure: the API key has expired')
})

test('configs that cannot work are refused, and say nothing of the keys', async (t) => {
  const problems = async (secretRef: object) => {
    const config = httpConfig([routeTo({ host: '127.0.0.1:1' }, { apiKeyAuthentication: { secretRef } })])
    const gateway = useGateway(t, config).then((started) => request(started.port()))
    const error = await gateway.then(
      (answer) => answer.body,
      (problem: Error) => problem.message,
    )
    assert.ok(!/s3cret/.test(error), error)
    return error
  }
  assert.match(await problems({ data: { a: 's3cret' } }), /secretRef\.data\.a: found a key that is too short/)
  assert.match(await problems({ data: { a: { key: 's3cret-key', expires: 'soon' } } }), /an `expires` that is no time/)
  assert.match(await problems({ data: { a: { key: 's3cret-key', disabled: 'no' } } }), /`disabled` that is neither/)
  assert.match(await problems({ data: {} }), /a mapping with 1 to 10000 keys/)
  assert.match(await problems({}), /exactly one of `data` or `file`/)
  assert.match(
    await problems({ data: { a: { env: 'NOT_SET' } } }),
    /secretRef\.data\.a: found `NOT_SET`, but the variable is not set/,
  )
  assert.match(await problems({ file: 'missing.json' }), /found no readable file/)
})

test('a key that two clients have is refused where it is written, without saying the key', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const twice = { a: 's3cret-key-1', b: 's3cret-key-1' }
  writeFileSync(join(dir, 'twice.json'), JSON.stringify(twice))
  for (const [secretRef, place] of [
    [{ data: twice }, 'data.b'],
    [{ file: 'twice.json' }, 'file'],
  ] as const) {
    const config = httpConfig([routeTo({ host: '127.0.0.1:1' }, { apiKeyAuthentication: { secretRef } })])
    const loaded = loadConfig(JSON.stringify(config), { file: 'g.yaml', dir, env: {} })
    assert.ok(loaded.ok)
    const [fault = ''] = checkCompile(loaded.ir).map(loaded.explain)
    assert.ok(fault.includes(`secretRef.${place}: found the key of "a" a second time, as "b"`), fault)
    assert.doesNotMatch(fault, /s3cret/)
  }
})

test('a refusal says where the key is expected', async (t) => {
  const cases: [object, string][] = [
    [{ header: { name: 'X-Api-Key' } }, 'ApiKey in="header", name="x-api-key"'],
    [{ header: { name: 'authorization', prefix: 'Key ' } }, 'Key'],
    [{ header: { name: 'authorization' } }, 'ApiKey in="header", name="authorization"'],
    [{ queryParameter: { name: 'a"\\b' } }, String.raw`ApiKey in="query", name="a\"\\b"`],
    [{ queryParameter: { name: 'schlüssel' } }, 'ApiKey in="query"'],
    [{ cookie: { name: 'key' } }, 'ApiKey in="cookie", name="key"'],
  ]
  const origin = await useOrigin(t)
  for (const [location, expected] of cases) {
    const policies = { apiKeyAuthentication: { secretRef: { data: { a: 'alice-key-1' } }, location } }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
    const { status, headers } = await request(gateway.port())
    assert.deepEqual([status, headers['www-authenticate']], [401, expected])
  }
  const location = { header: { name: 'proxy-authorization', prefix: 'Bearer ' } }
  const policies = { apiKeyAuthentication: { secretRef: { data: { a: 'alice-key-1' } }, location } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  const { status, headers } = await request(gateway.port())
  assert.deepEqual([status, headers['proxy-authenticate']], [407, 'Bearer'])
})
