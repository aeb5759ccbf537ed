import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as sdk from '@modelcontextprotocol/client'
import { request } from '../../testing/client.ts'
import { type StandIn, useAuth0, useKeycloak } from '../../testing/services/identity-providers.ts'
import { httpConfig, pathPrefix, routeTo, until, useGateway, useOrigin } from '../../testing/scene.ts'

type Json = Record<string, unknown>

async function setUp(t: TestContext, idp: StandIn, more: object = {}) {
  const origin = await useOrigin(t)
  const mcpAuthentication = { issuer: idp.issuer, audiences: ['https://mcp.example.com'], ...more }
  let now = performance.now()
  const config = httpConfig([routeTo(origin, { mcpAuthentication }, pathPrefix('/mcp'))])
  const gateway = await useGateway(t, config, { monotonic: () => now })
  const get = async (path: string) => {
    const { status, body } = await request(gateway.port(), { path })
    return status === 200 ? (JSON.parse(body) as Json) : status
  }
  return { origin, gateway, get, port: gateway.port(), pass: (milliseconds: number) => (now += milliseconds) }
}

const SERVER = '/.well-known/oauth-authorization-server'

test('the metadata of the authorization server is passed on as it is, at all places where clients look', async (t) => {
  const idp = await useAuth0(t)
  const { get, origin } = await setUp(t, idp)
  for (const path of [
    SERVER,
    `${SERVER}/mcp`,
    `/mcp${SERVER}`,
    '/.well-known/openid-configuration',
    '/.well-known/openid-configuration/mcp',
    '/mcp/.well-known/openid-configuration',
  ]) {
    const document = (await get(path)) as Json
    assert.equal(document['issuer'], idp.issuer, path)
    assert.equal(document['authorization_endpoint'], `${idp.issuer}authorize`)
  }
  assert.equal(idp.seen.length, 1, 'it is fetched once')
  assert.equal(origin.seen.length, 0)
})

test('Auth0 gets the audience that clients do not send, and clients take the gateway for the issuer', async (t) => {
  const idp = await useAuth0(t)
  const { port, gateway } = await setUp(t, idp, { provider: 'auth0' })
  const url = `http://127.0.0.1:${port}/mcp`
  const resource = await sdk.discoverOAuthProtectedResourceMetadata(url)
  assert.deepEqual(resource.authorization_servers, [url])
  const metadata = await sdk.discoverAuthorizationServerMetadata(url)
  assert.equal(metadata?.issuer, url)
  // Some clients append their query with a `?` whatever stands there: the endpoint has none of its own.
  const endpoint = metadata?.authorization_endpoint
  assert.equal(endpoint, `http://127.0.0.1:${port}${SERVER}/mcp/client-authorization`)
  const asked = `${endpoint}?response_type=code&client_id=a%26b&state=1%2B1`
  const { status, headers } = await fetch(asked, { redirect: 'manual' })
  assert.deepEqual(
    [status, headers.get('location')],
    [
      302,
      `${idp.issuer}authorize?response_type=code&client_id=a%26b&state=1%2B1&audience=https%3A%2F%2Fmcp.example.com`,
    ],
  )
  assert.equal(metadata?.registration_endpoint, `${idp.issuer}oidc/register`)
  const path = `${SERVER}/mcp/client-registration`
  assert.equal((await request(gateway.port(), { method: 'POST', path, body: '{}' })).status, 404)
})

test('Keycloak registers clients through the gateway, which hands on the body alone', async (t) => {
  const idp = await useKeycloak(t)
  const { port } = await setUp(t, idp, { provider: 'Keycloak' })
  const url = `http://127.0.0.1:${port}/mcp`
  const { authorization_servers } = await sdk.discoverOAuthProtectedResourceMetadata(url)
  const metadata = (await sdk.discoverAuthorizationServerMetadata(authorization_servers![0]!))!
  assert.equal(metadata.issuer, url)
  assert.equal(metadata.registration_endpoint, `http://127.0.0.1:${port}${SERVER}/mcp/client-registration`)
  assert.equal(metadata.authorization_endpoint, `${idp.issuer}/protocol/openid-connect/auth`)
  assert.equal(metadata.authorization_response_iss_parameter_supported, undefined)
  const clientMetadata = { redirect_uris: ['http://127.0.0.1/callback'] }
  const client = await sdk.registerClient(url, { metadata, clientMetadata })
  assert.equal(client.client_id, 'made-by-keycloak')
  const registration = idp.seen.at(-1)!
  assert.equal(`${registration.method} ${registration.url}`, 'POST /realms/demo/clients-registrations/openid-connect')
  assert.deepEqual(JSON.parse(registration.body), clientMetadata)
  await request(port, {
    method: 'POST',
    path: `${SERVER}/mcp/client-registration?x=1`,
    headers: { authorization: 'Bearer secret', cookie: 'a=b', 'x-own': '1', 'content-type': 'text/plain' },
    body: '{"client_name":"b"}',
  })
  const { url: target, headers } = idp.seen.at(-1)!
  assert.equal(target, '/realms/demo/clients-registrations/openid-connect')
  assert.deepEqual(Object.keys(headers).toSorted(), ['accept', 'content-length', 'content-type', 'host'])
  assert.equal(headers['content-type'], 'application/json')
})

test('a registration is bounded, and its answer is what the identity provider says, as JSON', async (t) => {
  const idp = await useKeycloak(t)
  const { port } = await setUp(t, idp, { provider: 'Keycloak' })
  const path = `${SERVER}/mcp/client-registration`
  const register = (body: string) => request(port, { method: 'POST', path, body })
  const place = '/realms/demo/clients-registrations/openid-connect'
  assert.equal((await register('[]')).status, 400)
  assert.equal((await register('')).status, 400)
  assert.equal((await register(`{"a":"${'x'.repeat(70_000)}"}`)).status, 413)
  assert.equal(idp.seen.length, 0)
  const answerWith = (status: number, body: string, headers = {}) =>
    idp.answers.set(place, (response) => response.writeHead(status, headers).end(body))
  answerWith(403, '{"error":"insufficient_scope"}', { 'set-cookie': 'a=b' })
  const refused = await register('{}')
  assert.equal(refused.status, 403)
  assert.equal(refused.body, '{"error":"insufficient_scope"}')
  assert.equal(refused.headers['set-cookie'], undefined)
  assert.equal(refused.headers['access-control-allow-origin'], '*')
  for (const [status, body, headers] of [
    [302, '{}', { location: 'http://127.0.0.1:1/' }],
    [500, '{}', {}],
    [201, '<html>', {}],
    [201, `{"a":"${'x'.repeat(70_000)}"}`, {}],
  ] as const) {
    answerWith(status, body, headers)
    assert.equal((await register('{}')).status, 502, `${status} ${body.slice(0, 9)}`)
  }
})

test('only so many clients register at once', async (t) => {
  const idp = await useKeycloak(t)
  const { port } = await setUp(t, idp, { provider: 'Keycloak' })
  const path = `${SERVER}/mcp/client-registration`
  const waiting: (() => void)[] = []
  idp.answers.set('/realms/demo/clients-registrations/openid-connect', (response) =>
    waiting.push(() => response.writeHead(201).end('{}')),
  )
  const register = async () => (await request(port, { method: 'POST', path, body: '{}' })).status
  const first = Array.from({ length: 32 }, register)
  await until(() => waiting.length === 32)
  assert.equal(await register(), 503)
  for (const answer of waiting) answer()
  assert.deepEqual(new Set(await Promise.all(first)), new Set([201]))
})

test('a trace says which document was asked for', async (t) => {
  const { gateway, get } = await setUp(t, await useAuth0(t))
  const watched = gateway.trace()
  await get('/.well-known/oauth-protected-resource/mcp')
  const text = JSON.stringify(await watched)
  assert.match(text, /"oauth_discovery"/)
  assert.match(text, /"mcpAuthentication"/)
})

test('browsers may read the documents, without a token and from any page', async (t) => {
  const idp = await useKeycloak(t)
  const { port } = await setUp(t, idp, { provider: 'Keycloak' })
  const paths = { '/.well-known/oauth-protected-resource/mcp': 'GET', [`${SERVER}/mcp`]: 'GET' }
  for (const [path, method] of Object.entries({ ...paths, [`${SERVER}/mcp/client-registration`]: 'POST' })) {
    const headers = { origin: 'https://page.test', 'access-control-request-method': method }
    const preflight = await request(port, { method: 'OPTIONS', path, headers })
    assert.equal(preflight.status, 204)
    assert.equal(preflight.headers['access-control-allow-origin'], '*')
    assert.equal(preflight.headers['access-control-allow-methods'], `${method}, OPTIONS`)
    assert.match(preflight.headers['access-control-allow-headers']!, /content-type.*mcp-protocol-version/)
    const wrong = await request(port, { method: 'DELETE', path })
    assert.equal(wrong.status, 405)
    assert.match(wrong.headers['allow']!, new RegExp(method))
  }
  const head = await request(port, { method: 'HEAD', path: `${SERVER}/mcp` })
  assert.equal(head.status, 200)
  assert.equal(head.body, '')
})

test('metadata is kept for a while, and the last good one when the identity provider fails', async (t) => {
  const idp = await useAuth0(t)
  const { get, pass } = await setUp(t, idp)
  assert.ok(typeof (await get(SERVER)) === 'object')
  for (const path of [SERVER, '/.well-known/openid-configuration']) {
    idp.answers.set(path, (response) => response.writeHead(500).end())
  }
  pass(299_000)
  assert.ok(typeof (await get(SERVER)) === 'object')
  assert.equal(idp.seen.length, 1)
  pass(2_000)
  const all = await Promise.all(Array.from({ length: 10 }, () => get(SERVER)))
  assert.ok(all.every((document) => typeof document === 'object'))
  assert.equal(idp.seen.length, 3, 'one look at each of the two places')
  await get(SERVER)
  assert.equal(idp.seen.length, 3, 'no flood while it fails')
})

const hostile: [string, number, string, Record<string, string>?][] = [
  ['a redirect', 302, '', { location: 'https://other.example.com/' }],
  ['no JSON', 200, '<html>'],
  ['a list', 200, '[]'],
  ['another issuer', 200, '{"issuer":"https://other.example.com/"}'],
  ['an answer without end', 200, `{"a":"${'x'.repeat(300_000)}"}`],
]
for (const [name, status, body, headers = {}] of hostile) {
  test(`metadata that is ${name} reaches no client`, async (t) => {
    const idp = await useAuth0(t)
    const { get, pass } = await setUp(t, idp)
    for (const path of [SERVER, '/.well-known/openid-configuration']) {
      idp.answers.set(path, (response) => response.writeHead(status, headers).end(body))
    }
    assert.equal(await get(SERVER), 502)
    idp.answers.clear()
    assert.equal(await get(SERVER), 502)
    pass(5_001)
    assert.ok(typeof (await get(SERVER)) === 'object', 'it heals')
  })
}

test('metadata at the place of OpenID is found where there is none at that of OAuth', async (t) => {
  const idp = await useAuth0(t)
  idp.answers.set(SERVER, (response) => response.writeHead(404).end())
  const { get } = await setUp(t, idp)
  assert.equal(((await get(SERVER)) as Json)['issuer'], idp.issuer)
})

test('a page with a cors policy of its own gets that one', async (t) => {
  const idp = await useAuth0(t)
  const origin = await useOrigin(t)
  const policies = { mcpAuthentication: { issuer: idp.issuer }, cors: { allowOrigins: ['https://a.test'] } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies, pathPrefix('/mcp'))]))
  const headers = { origin: 'https://a.test' }
  const answer = await request(gateway.port(), { path: '/.well-known/oauth-protected-resource/mcp', headers })
  assert.equal(answer.headers['access-control-allow-origin'], 'https://a.test')
})
