import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sendRaw, request } from '../../../testing/client.ts'
import { createSigningKey, forge, ISSUER, keySetOf, sign } from '../../../testing/services/issuer.ts'
import { httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

const key = createSigningKey('main')
const provider = { issuer: ISSUER, jwks: { inline: keySetOf(key) } }

async function setUp(t: TestContext, jwtAuthentication: object = {}, more: object = {}) {
  const origin = await useOrigin(t)
  const policies = { jwtAuthentication: { providers: [provider], ...jwtAuthentication }, ...more }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  const ask = (headers: Record<string, string> = {}, path = '/') => request(gateway.port(), { path, headers })
  return { origin, gateway, ask }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

test('a valid token opens the way, and the backend does not get it', async (t) => {
  const { origin, ask } = await setUp(t)
  const token = await sign(key)
  for (let i = 0; i < 3; i++) {
    const { status, body } = await ask({ ...bearer(token), 'x-other': '1' })
    assert.equal(`${status} ${body}`, '200 ok')
  }
  assert.equal(origin.seen.length, 3)
  for (const { headers } of origin.seen) {
    assert.equal(headers.authorization, undefined)
    assert.equal(headers['x-other'], '1')
  }
})

test('without a token, or with a bad one, the client hears why', async (t) => {
  const { origin, gateway, ask } = await setUp(t)
  const missing = await ask()
  assert.equal(missing.status, 401)
  assert.equal(missing.body, 'jwt authentication failure: no bearer token found')
  assert.equal(missing.headers['www-authenticate'], 'Bearer')
  assert.equal(missing.headers['content-type'], 'text/plain')
  const token = await sign(createSigningKey('main'))
  const wrong = await ask(bearer(token))
  assert.equal(wrong.status, 401)
  assert.equal(wrong.body, 'jwt authentication failure: the signature of the token is wrong')
  assert.equal(wrong.headers['www-authenticate'], 'Bearer error="invalid_token"')
  assert.equal((await ask({ authorization: 'Basic abc' })).body, missing.body)
  await gateway.finished(3)
  assert.equal(origin.seen.length, 0)
  assert.deepEqual(
    gateway.records.map(({ reason, error }) => [reason, error]),
    [missing, wrong, missing].map(({ body }) => ['JwtAuth', body]),
  )
})

test('two tokens are one too many', async (t) => {
  const { gateway } = await setUp(t)
  const token = await sign(key)
  const lines = [`authorization: Bearer ${token}`, `Authorization: Bearer ${token}`]
  const answer = await sendRaw(gateway.port(), `GET / HTTP/1.1\r\nhost: a\r\n${lines.join('\r\n')}\r\n\r\n`)
  assert.equal(answer.status, 401)
  assert.equal(answer.body, 'jwt authentication failure: more than one token found')
  assert.equal(answer.headers['www-authenticate'], 'Bearer error="invalid_request"')
})

test('a very long token is refused before any work', async (t) => {
  const { ask } = await setUp(t)
  const token = forge({ alg: 'ES256', kid: 'main' }, { iss: ISSUER, pad: 'x'.repeat(13_000) })
  assert.equal((await ask(bearer(token))).body, 'jwt authentication failure: the token is too long')
})

test('Optional lets requests without a token pass, and no others', async (t) => {
  const { origin, ask } = await setUp(t, { mode: 'Optional' })
  assert.equal((await ask()).status, 200)
  assert.equal((await ask({ authorization: 'Basic abc' })).status, 200)
  assert.equal(origin.seen[1]!.headers.authorization, 'Basic abc')
  assert.equal((await ask(bearer('abc'))).status, 401)
  assert.equal((await ask(bearer(await sign(key)))).status, 200)
  assert.equal(origin.seen[2]!.headers.authorization, undefined)
})

test('Permissive lets everything pass, and takes off valid tokens only', async (t) => {
  const { origin, ask } = await setUp(t, { mode: 'permissive' })
  assert.equal((await ask()).status, 200)
  assert.equal((await ask(bearer('abc'))).status, 200)
  assert.equal((await ask(bearer(await sign(key)))).status, 200)
  assert.deepEqual(
    origin.seen.map(({ headers }) => headers.authorization),
    [undefined, 'Bearer abc', undefined],
  )
})

test('a token in the query is taken off and hidden in the log', async (t) => {
  const { origin, gateway, ask } = await setUp(t, { location: { queryParameter: { name: 'access_token' } } })
  const token = await sign(key)
  assert.equal((await ask({}, `/a?x=1&access_token=${token}&y=%20`)).status, 200)
  assert.equal(origin.seen[0]!.url, '/a?x=1&y=%20')
  assert.equal((await ask({}, `/a?access_token=${token}x`)).status, 401)
  await gateway.finished(2)
  assert.deepEqual(
    gateway.records.map(({ target }) => target),
    ['/a?x=1&access_token=<redacted>&y=%20', '/a?access_token=<redacted>'],
  )
})

test('a token in a cookie or another header is taken off alone', async (t) => {
  const cookie = await setUp(t, { location: { cookie: { name: 'session' } } })
  const token = await sign(key)
  assert.equal((await cookie.ask({ cookie: `a=1; session=${token}; b=2` })).status, 200)
  assert.equal(cookie.origin.seen[0]!.headers.cookie, 'a=1; b=2')
  const header = await setUp(t, { location: { header: { name: 'X-Token' } } })
  assert.equal((await header.ask({ 'x-token': token, authorization: 'Bearer other' })).status, 200)
  assert.equal(header.origin.seen[0]!.headers['x-token'], undefined)
  assert.equal(header.origin.seen[0]!.headers.authorization, 'Bearer other')
})

test('gRPC clients get a status that they read', async (t) => {
  const { ask } = await setUp(t)
  const answer = await ask({ 'content-type': 'application/grpc' })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['grpc-status'], '16')
})

test('the nearest policy holds alone', async (t) => {
  const origin = await useOrigin(t)
  const other = createSigningKey('other')
  const own = { providers: [{ issuer: ISSUER, jwks: { inline: keySetOf(other) } }] }
  const routes = [routeTo(origin, { jwtAuthentication: own }, pathPrefix('/own')), routeTo(origin, {}, pathPrefix('/'))]
  const listener = { policies: { jwtAuthentication: { providers: [provider] } } }
  const gateway = await useGateway(t, httpConfig(routes, { listener }))
  const statusOf = async (path: string, token: string) =>
    (await request(gateway.port(), { path, headers: bearer(token) })).status
  const [first, second] = [await sign(key), await sign(other)]
  assert.deepEqual(
    [
      await statusOf('/', first),
      await statusOf('/', second),
      await statusOf('/own', first),
      await statusOf('/own', second),
    ],
    [200, 401, 401, 200],
  )
})

test('preflight requests need no token', async (t) => {
  const { ask, gateway } = await setUp(t, {}, { cors: { allowOrigins: ['https://a.test'] } })
  const headers = { origin: 'https://a.test', 'access-control-request-method': 'GET' }
  assert.equal((await request(gateway.port(), { method: 'OPTIONS', headers })).status, 200)
  const refused = await ask({ origin: 'https://a.test' })
  assert.equal(refused.status, 401)
  assert.equal(refused.headers['access-control-allow-origin'], 'https://a.test')
})

test('passthrough gives the token to the backend again', async (t) => {
  const token = await sign(key)
  const { origin, ask } = await setUp(t, {}, { backend: { auth: { passthrough: {} } } })
  assert.equal((await ask(bearer(token))).status, 200)
  assert.equal(origin.seen[0]!.headers.authorization, `Bearer ${token}`)
})

test('configs that cannot work are refused at their place', async (t) => {
  const start = (jwks: object, backends: object[] = []) => {
    const policies = { jwtAuthentication: { providers: [{ issuer: ISSUER, jwks }] } }
    return useGateway(t, httpConfig([routeTo({ host: '127.0.0.1:1' }, policies)], { backends }))
  }
  const remote = (name: string) => ({ remote: { backendRef: { name }, jwksPath: 'keys' } })
  await assert.rejects(start({ inline: '{"keys":[]}' }), /jwks\.inline.*no key that can verify signatures/)
  await assert.rejects(
    start({ inline: '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}' }),
    /no key that can verify signatures/,
  )
  await assert.rejects(start({ inline: 'hello' }), /text that is not JSON/)
  await assert.rejects(start({ file: 'missing.json' }), /jwks\.file.*found no readable file .*missing\.json/)
  await assert.rejects(start({ url: 'ftp://a/' }), /jwks\.url.*expected a URL/)
  await assert.rejects(start({ url: 'http://a/', ...remote('idp') }), /exactly one of/)
  await assert.rejects(start({}), /exactly one of `inline`, `file`, `url` or `remote`/)
  await assert.rejects(start(remote('idp')), /found no backend named `idp`/)
  await assert.rejects(start(remote('any'), [{ name: 'any', dynamicForwardProxy: {} }]), /a fixed destination/)
})
