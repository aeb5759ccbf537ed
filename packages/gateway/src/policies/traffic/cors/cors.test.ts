import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { request } from '../../../testing/client.ts'
import { httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'
import { originMatcher } from './origin.ts'

async function setUp(t: TestContext, cors: object) {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { cors })]))
  return { origin, port: gateway.port() }
}

function preflight(port: number, origin: string, headers: Record<string, string> = {}) {
  return request(port, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'PUT', ...headers },
  })
}

test('a configured origin is compared by scheme, host without case, and port with its default', () => {
  const isAllowed = originMatcher(['https://app.example.com', 'http://Local.test:3000', 'http://[::1]:80'])
  assert.ok(isAllowed('https://app.example.com'))
  assert.ok(isAllowed('HTTPS://APP.example.com'))
  assert.ok(isAllowed('https://app.example.com:443'))
  assert.ok(isAllowed('http://local.test:3000'))
  assert.ok(isAllowed('http://[::1]'))
  for (const other of [
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://app.example.com.evil.test',
    'https://evilapp.example.com',
    'http://local.test',
    'null',
    '',
    'https://app.example.com/',
    'https://user@app.example.com',
  ]) {
    assert.ok(!isAllowed(other), other)
  }
})

test('a wildcard stands for text inside the host only', () => {
  const isAllowed = originMatcher(['https://*.example.com', 'https://pr-*.dev.test:8443'])
  assert.ok(isAllowed('https://a.example.com'))
  assert.ok(isAllowed('https://a.b.example.com'))
  assert.ok(isAllowed('https://pr-12.dev.test:8443'))
  assert.ok(!isAllowed('https://example.com'))
  assert.ok(!isAllowed('https://evil-example.com'))
  assert.ok(!isAllowed('http://a.example.com'))
  assert.ok(!isAllowed('https://pr-12.dev.test'))
})

test('between several wildcards the host has what the config has, in order and without sharing letters', () => {
  const isAllowed = originMatcher(['https://*.dev.*.test', 'https://a*b*b.org'])
  for (const origin of ['https://x.dev.y.test', 'https://x.y.dev.dev.z.test', 'https://abb.org', 'https://axbxb.org'])
    assert.ok(isAllowed(origin), origin)
  for (const origin of ['https://x.prod.y.test', 'https://x.y.test', 'https://x.dev.test', 'https://ab.org'])
    assert.ok(!isAllowed(origin), origin)
})

test('an origin cannot bring its own wildcard', () => {
  assert.ok(!originMatcher(['https://*.example.com'])('https://*evil.test'))
  assert.ok(!originMatcher(['https://app.example.com'])('https://*'))
})

test('an origin is allowed exactly when it differs from a configured one in nothing but letter case', () => {
  const origin = fc.record({
    scheme: fc.constantFrom('http', 'https', 'HTTPS'),
    host: fc.stringMatching(/^[a-c]\.[a-b]$/),
    port: fc.constantFrom('', ':80', ':443', ':81'),
  })
  const print = ({ scheme, host, port }: { scheme: string; host: string; port: string }) => `${scheme}://${host}${port}`
  fc.assert(
    fc.property(origin, origin, (configured, asked) => {
      // `URL` knows schemes, hosts and default ports too.
      const isSame = new URL(print(configured)).origin === new URL(print(asked)).origin
      assert.equal(originMatcher([print(configured)])(print(asked)), isSame)
    }),
    { seed: 7, numRuns: 500 },
  )
})

test('the response to an allowed origin names it and says that it varies', async (t) => {
  const { port } = await setUp(t, { allowOrigins: ['https://app.test'], exposeHeaders: ['x-total', 'x-page'] })
  const { headers } = await request(port, { headers: { origin: 'https://app.test' } })
  assert.equal(headers['access-control-allow-origin'], 'https://app.test')
  assert.equal(headers['access-control-expose-headers'], 'x-total,x-page')
  assert.equal(headers['access-control-allow-credentials'], undefined)
  assert.equal(headers.vary, 'origin')
})

test('the response to another origin, or to none, has no grant but still varies', async (t) => {
  const { port, origin } = await setUp(t, { allowOrigins: ['https://app.test'] })
  const other = await request(port, { headers: { origin: 'https://other.test' } })
  assert.equal(other.status, 200)
  assert.equal(other.headers['access-control-allow-origin'], undefined)
  assert.equal(other.headers.vary, 'origin')
  assert.equal((await request(port)).headers.vary, 'origin')
  assert.equal(origin.seen.length, 2)
})

test('a Vary of the backend that covers Origin is left alone', async (t) => {
  const origin = await useOrigin(t, (_request, response) =>
    response.writeHead(200, { vary: 'Accept-Encoding, Origin' }).end(),
  )
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { cors: { allowOrigins: ['*'] } })]))
  assert.equal((await request(gateway.port())).headers.vary, 'Accept-Encoding, Origin')
})

test('the star allows any origin by its name, so that credentials can be allowed too', async (t) => {
  const { port } = await setUp(t, { allowOrigins: ['*'], allowCredentials: true })
  const { headers } = await request(port, { headers: { origin: 'https://any.test' } })
  assert.equal(headers['access-control-allow-origin'], 'https://any.test')
  assert.equal(headers['access-control-allow-credentials'], 'true')
})

test('a preflight is answered by the gateway', async (t) => {
  const { port, origin } = await setUp(t, {
    allowOrigins: ['https://app.test'],
    allowMethods: ['GET', 'PUT'],
    allowHeaders: ['X-Team'],
    maxAge: '10m',
  })
  const { status, headers, body } = await preflight(port, 'https://app.test')
  assert.equal(status, 200)
  assert.equal(body, '')
  assert.equal(headers['access-control-allow-origin'], 'https://app.test')
  assert.equal(headers['access-control-allow-methods'], 'GET,PUT')
  assert.equal(headers['access-control-allow-headers'], 'x-team')
  assert.equal(headers['access-control-max-age'], '600')
  assert.equal(headers.vary, 'origin')
  assert.equal(origin.seen.length, 0)
})

test('stars answer a preflight with what it asked for', async (t) => {
  const { port } = await setUp(t, {
    allowOrigins: ['*'],
    allowMethods: ['*'],
    allowHeaders: ['*'],
    allowCredentials: true,
  })
  const { headers } = await preflight(port, 'https://a.test', { 'access-control-request-headers': 'x-a,x-b' })
  assert.equal(headers['access-control-allow-methods'], 'PUT')
  assert.equal(headers['access-control-allow-headers'], 'x-a, x-b')
})

test('a preflight of another origin is answered without any grant', async (t) => {
  const { port, origin } = await setUp(t, { allowOrigins: ['https://app.test'], allowMethods: ['*'] })
  const { status, headers } = await preflight(port, 'https://other.test')
  assert.equal(status, 200)
  assert.deepEqual(
    Object.keys(headers).filter((name) => name.startsWith('access-control-')),
    [],
  )
  assert.equal(origin.seen.length, 0)
})

test('a record says what a preflight lacks: the origin, the method or a header', async (t) => {
  const cors = { allowOrigins: ['https://app.test'], allowMethods: ['PUT'], allowHeaders: ['X-Team', 'X-Two'] }
  const gateway = await useGateway(t, httpConfig([routeTo(await useOrigin(t), { cors })]))
  const lacks: unknown[] = []
  for (const [origin, method, headers] of [
    ['https://other.test', 'PUT', ''],
    ['https://app.test', 'DELETE', ''],
    ['https://app.test', 'PUT', 'x-three'],
    ['https://app.test', 'PUT', 'x-team, x-three'],
    // Browsers let these pass without leave.
    ['https://app.test', 'GET', ''],
    ['https://app.test', 'put', 'X-TEAM ,x-two'],
    ['https://app.test', 'PUT', ''],
  ] as const) {
    const asked = { 'access-control-request-method': method, 'access-control-request-headers': headers }
    await preflight(gateway.port(), origin, asked)
    await gateway.finished(lacks.length + 1)
    const values = gateway.recorded()[0]?.reason?.values
    lacks.push([values?.lacks ?? null, values?.asked ?? null])
  }
  assert.deepEqual(lacks, [
    ['origin', 'https://other.test'],
    ['method', 'DELETE'],
    ['headers', 'x-three'],
    ['headers', 'x-team, x-three'],
    [null, null],
    [null, null],
    [null, null],
  ])
})

test('a preflight with an empty method is none', async (t) => {
  const { port, origin } = await setUp(t, { allowOrigins: ['*'] })
  await preflight(port, 'https://a.test', { 'access-control-request-method': '' })
  await request(port, { headers: { origin: 'https://a.test', 'access-control-request-method': 'PUT' } })
  assert.equal(origin.seen.length, 2)
})

test('stars without anything asked grant everything, unless credentials are allowed', async (t) => {
  for (const [allowCredentials, granted] of [
    [false, '*'],
    [true, undefined],
  ] as const) {
    const { port } = await setUp(t, { allowOrigins: ['*'], allowMethods: ['*'], allowHeaders: ['*'], allowCredentials })
    const { headers } = await preflight(port, 'https://a.test')
    assert.equal(headers['access-control-allow-headers'], granted)
    assert.equal(headers['access-control-allow-credentials'], allowCredentials ? 'true' : undefined)
    assert.equal(headers['access-control-expose-headers'], undefined)
  }
})

test('an OPTIONS request that is no preflight goes to the backend', async (t) => {
  const { port, origin } = await setUp(t, { allowOrigins: ['*'] })
  await request(port, { method: 'OPTIONS' })
  await request(port, { method: 'OPTIONS', headers: { origin: 'https://a.test' } })
  assert.equal(origin.seen.length, 2)
})

test('errors made by the gateway carry the grant too, so that scripts can read them', async (t) => {
  const cors = { allowOrigins: ['https://app.test'] }
  const gateway = await useGateway(t, httpConfig([{ policies: { cors }, ...pathPrefix('/'), backends: [] }]))
  const { status, headers } = await request(gateway.port(), { headers: { origin: 'https://app.test' } })
  assert.equal(status, 500)
  assert.equal(headers['access-control-allow-origin'], 'https://app.test')
})
