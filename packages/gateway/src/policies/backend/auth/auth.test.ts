import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'

async function setUp(t: TestContext, auth: object, traffic: object = {}, options: object = {}) {
  const origin = await useOrigin(t)
  const route = routeTo(origin, { ...traffic, backend: { auth } })
  const gateway = await useGateway(t, httpConfig([route]), options)
  const ask = async (headers: Record<string, string> = {}, path = '/') => {
    const { status } = await request(gateway.port(), { path, headers })
    assert.equal(status, 200)
    return origin.seen.at(-1)!
  }
  return { origin, gateway, ask }
}

test('the key is shown as a bearer token, in place of what the client sent', async (t) => {
  const { ask } = await setUp(t, { key: 'backend-key' })
  assert.equal((await ask()).headers.authorization, 'Bearer backend-key')
  const { rawHeaders } = await ask({ Authorization: 'Bearer mine' })
  const sent = rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === 'authorization')
  assert.deepEqual(sent, ['Bearer backend-key'])
})

test('the key goes where the backend expects it', async (t) => {
  const header = await setUp(t, { key: 'abc', location: { header: { name: 'X-Api-Key' } } })
  const seen = await header.ask({ x_api_key: 'mine', 'x-api-key': 'mine', authorization: 'Bearer mine' })
  assert.equal(seen.headers['x-api-key'], 'abc')
  assert.equal(seen.headers['x_api_key'], undefined)
  assert.equal(seen.headers.authorization, 'Bearer mine')
  const prefixed = await setUp(t, { key: 'abc', location: { header: { name: 'authorization', prefix: 'Key ' } } })
  assert.equal((await prefixed.ask()).headers.authorization, 'Key abc')
  const query = await setUp(t, { key: 'a&b c', location: { queryParameter: { name: 'key' } } })
  assert.equal((await query.ask({}, '/p?key=mine&x=1')).url, '/p?x=1&key=a%26b%20c')
  const cookie = await setUp(t, { key: 'abc', location: { cookie: { name: 'key' } } })
  assert.equal((await cookie.ask({ cookie: 'key=mine; a=1' })).headers.cookie, 'a=1; key=abc')
})

test('the key may stand in a file or a variable', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'key'), 'from-file\n')
  const options = { dir, env: { KEY: 'from-env' } }
  const file = await setUp(t, { secretRef: { file: 'key' } }, {}, options)
  assert.equal((await file.ask()).headers.authorization, 'Bearer from-file')
  const env = await setUp(t, { secretRef: { env: 'KEY' } }, {}, options)
  assert.equal((await env.ask()).headers.authorization, 'Bearer from-env')
})

const KEYS = { data: { alice: 'alice-key-1' } }

test('passthrough changes nothing where authentication took nothing off', async (t) => {
  const plain = await setUp(t, { passthrough: {} })
  assert.equal((await plain.ask({ authorization: 'Basic abc' })).headers.authorization, 'Basic abc')
  assert.equal((await plain.ask()).headers.authorization, undefined)
  const apiKeyAuthentication = { mode: 'Optional', secretRef: KEYS, location: { queryParameter: { name: 'key' } } }
  const optional = await setUp(t, { passthrough: {} }, { apiKeyAuthentication })
  assert.equal((await optional.ask({ authorization: 'Bearer other' })).headers.authorization, 'Bearer other')
})

test('passthrough restores exactly what authentication took off, where it stood', async (t) => {
  const basic = `basic  ${Buffer.from('alice:secret').toString('base64')}`
  const basicAuthentication = { users: ['alice:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ='] }
  const { ask: withPassword } = await setUp(t, { passthrough: {} }, { basicAuthentication })
  assert.equal((await withPassword({ authorization: basic })).headers.authorization, basic)

  const keyAt = (location: object) =>
    setUp(t, { passthrough: {} }, { apiKeyAuthentication: { secretRef: KEYS, location } })
  const header = await keyAt({ header: { name: 'x-api-key' } })
  const seen = await header.ask({ 'X-Api-Key': 'alice-key-1', x_api_key: 'other', authorization: 'Bearer own' })
  assert.equal(seen.headers['x-api-key'], 'alice-key-1')
  assert.equal(seen.headers['x_api_key'], undefined)
  assert.equal(seen.headers.authorization, 'Bearer own')

  const query = await keyAt({ queryParameter: { name: 'key' } })
  for (const path of ['/p?key=alice-key-1', '/p?a=1&key=alice%2Dkey-1&b=%zz&', '/p?%6bey=alice-key-1&b=2']) {
    const { url, headers } = await query.ask({}, path)
    assert.deepEqual([url, headers.authorization], [path, undefined])
  }

  const cookie = await keyAt({ cookie: { name: 'key' } })
  for (const line of ['key=alice-key-1', 'a=1; key="alice-key-1";b=2', 'key=alice-key-1;  b=2']) {
    const { headers } = await cookie.ask({ cookie: line })
    assert.deepEqual([headers.cookie, headers.authorization], [line, undefined])
  }
})

test('a restored credential survives rewrites and replaces values of other policies', async (t) => {
  const apiKeyAuthentication = { secretRef: KEYS, location: { queryParameter: { name: 'key' } } }
  const urlRewrite = { path: { full: '/other' } }
  const rewritten = await setUp(t, { passthrough: {} }, { apiKeyAuthentication, urlRewrite })
  assert.equal((await rewritten.ask({}, '/p?key=alice-key-1&a=1')).url, '/other?key=alice-key-1&a=1')
  const transformation = { request: { set: [{ name: ':path', value: '"/t?b=2&key=forged"' }] } }
  const replaced = await setUp(t, { passthrough: {} }, { apiKeyAuthentication, transformation })
  assert.equal((await replaced.ask({}, '/p?key=alice%2Dkey-1&a=1')).url, '/t?b=2&key=alice%2Dkey-1')
  const inCookie = { secretRef: KEYS, location: { cookie: { name: 'key' } } }
  const headerModifiers = { request: { set: [{ name: 'cookie', value: 'a=1; key=forged' }] } }
  const baked = await setUp(t, { passthrough: {} }, { apiKeyAuthentication: inCookie, headerModifiers })
  assert.equal((await baked.ask({ cookie: 'key="alice-key-1"' })).headers.cookie, 'a=1; key="alice-key-1"')
})

test('passthrough restores with every try, and never to mirrors', async (t) => {
  const mirror = await useOrigin(t)
  let calls = 0
  const origin = await useOrigin(t, (_request, response) => response.writeHead(calls++ === 0 ? 503 : 200).end())
  const policies = {
    apiKeyAuthentication: { secretRef: KEYS, location: { queryParameter: { name: 'key' } } },
    retry: { attempts: 2, codes: [503] },
    requestMirror: { backend: mirror.host },
    backend: { auth: { passthrough: {} } },
  }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  assert.equal((await request(gateway.port(), { path: '/?key=alice-key-1' })).status, 200)
  assert.deepEqual(
    origin.seen.map(({ url }) => url),
    ['/?key=alice-key-1', '/?key=alice-key-1'],
  )
  await until(() => mirror.seen.length === 1)
  assert.equal(mirror.seen[0]!.url, '/')
})

test('with a location, passthrough moves the credential there', async (t) => {
  const apiKeyAuthentication = { secretRef: KEYS, location: { queryParameter: { name: 'key' } } }
  const location = { header: { name: 'authorization', prefix: 'Bearer ' } }
  const { ask } = await setUp(t, { passthrough: {}, location }, { apiKeyAuthentication })
  const seen = await ask({}, '/p?key=alice-key-1')
  assert.deepEqual([seen.url, seen.headers.authorization], ['/p', 'Bearer alice-key-1'])
})

test('a credential that no header can hold is not sent', async (t) => {
  const keyHash = `sha256:${createHash('sha256').update('alice\nkey').digest('hex')}`
  const secretRef = { data: { alice: { keyHash } } }
  const apiKeyAuthentication = { secretRef, location: { queryParameter: { name: 'key' } } }
  const location = { header: { name: 'authorization', prefix: 'Bearer ' } }
  const { origin, gateway } = await setUp(t, { passthrough: {}, location }, { apiKeyAuthentication })
  assert.equal((await request(gateway.port(), { path: '/p?key=alice%0akey' })).status, 500)
  assert.equal(origin.seen.length, 0)
})

test('several credentials are restored, each where it stood', async (t) => {
  const apiKeyAuthentication = { secretRef: KEYS, location: { queryParameter: { name: 'key' } } }
  const basicAuthentication = { users: ['alice:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ='] }
  const { ask } = await setUp(t, { passthrough: {} }, { apiKeyAuthentication, basicAuthentication })
  const authorization = `Basic ${Buffer.from('alice:secret').toString('base64')}`
  const { url, headers } = await ask({ authorization }, '/p?key=alice-key-1')
  assert.deepEqual([url, headers.authorization], ['/p?key=alice-key-1', authorization])
})

test('header modifiers and retries do not wear it off, mirrors do not get it', async (t) => {
  const mirror = await useOrigin(t)
  const headerModifiers = { request: { set: [{ name: 'authorization', value: 'Bearer of-the-route' }] } }
  let calls = 0
  const origin = await useOrigin(t, (_request, response) => response.writeHead(calls++ === 0 ? 503 : 200).end())
  const policies = {
    headerModifiers,
    retry: { attempts: 2, codes: [503] },
    requestMirror: { backend: mirror.host },
    backend: { auth: { key: 'abc' } },
  }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  assert.equal((await request(gateway.port())).status, 200)
  assert.deepEqual(
    origin.seen.map(({ headers }) => headers.authorization),
    ['Bearer abc', 'Bearer abc'],
  )
  await until(() => mirror.seen.length === 1)
  assert.equal(mirror.seen[0]!.headers.authorization, undefined)
})

test('each backend gets its own key', async (t) => {
  const [first, second] = [await useOrigin(t), await useOrigin(t)]
  const backends = [first, second].map((origin, index) => ({
    host: origin.host,
    policies: { auth: { key: `key-${index}` } },
  }))
  const randoms = [0.1, 0.9]
  const gateway = await useGateway(t, httpConfig([{ backends }]), { random: () => randoms.shift() ?? 0 })
  await request(gateway.port())
  await request(gateway.port())
  assert.equal(first.seen[0]!.headers.authorization, 'Bearer key-0')
  assert.equal(second.seen[0]!.headers.authorization, 'Bearer key-1')
})

test('configs that cannot work are refused, and say nothing of the key', async (t) => {
  const problems = async (auth: object) => {
    const config = httpConfig([routeTo({ host: '127.0.0.1:1' }, { backend: { auth } })])
    const error = await useGateway(t, config, { env: { BROKEN: 's3cret\nx' } }).then(
      () => assert.fail('the config was accepted'),
      (problem: Error) => problem.message,
    )
    assert.ok(!error.includes('s3cret'), error)
    return error
  }
  assert.match(await problems({}), /exactly one of `key`, `secretRef`, `passthrough`, `aws`, `azure` or `gcp`/)
  assert.match(await problems({ key: 's3cret', passthrough: {} }), /exactly one of/)
  assert.match(await problems({ key: 's3cret\r\nx-evil: 1' }), /auth\.key: found spaces at an end, line breaks or/)
  assert.match(await problems({ key: `s3cret${'x'.repeat(3000)}` }), /auth\.key: found a longer text/)
  assert.match(await problems({ key: '' }), /auth\.key: found nothing/)
  assert.match(
    await problems({ secretRef: { env: 'BROKEN' } }),
    /auth\.secretRef: found spaces at an end, line breaks or/,
  )
  assert.match(await problems({ passthrough: { x: 1 } }), /unknown key `x`/)
})
