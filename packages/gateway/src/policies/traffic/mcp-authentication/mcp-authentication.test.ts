import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { request, sendRaw } from '../../../testing/client.ts'
import { useAuth0, useKeycloak } from '../../../testing/services/identity-providers.ts'
import { createSigningKey, forge, keySetOf, sign } from '../../../testing/services/issuer.ts'
import { httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

const key = createSigningKey('main')
const issuer = 'https://issuer.test/'
const base = { issuer, audiences: ['mcp'], jwks: { inline: keySetOf(key) } }
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

async function setUp(t: TestContext, mcpAuthentication: object = {}, more: object = {}, prefix = '/mcp') {
  const origin = await useOrigin(t)
  const policies = { mcpAuthentication: { ...base, ...mcpAuthentication }, ...more }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies, pathPrefix(prefix))]))
  const ask = (headers: Record<string, string> = {}, path = prefix) => request(gateway.port(), { path, headers })
  return { origin, gateway, ask }
}

const PLACE = 'resource_metadata="http://test.example/.well-known/oauth-protected-resource/mcp"'

test('a missing, malformed, expired, foreign or wrongly signed token is answered by the way to a good one', async (t) => {
  const { origin, gateway, ask } = await setUp(t)
  const missing = await ask()
  assert.equal(missing.status, 401)
  assert.equal(missing.headers['content-type'], 'application/json')
  assert.equal(missing.headers['www-authenticate'], `Bearer ${PLACE}`)
  assert.deepEqual(JSON.parse(missing.body), { error: 'unauthorized', error_description: 'JWT token required' })
  const past = Math.floor(Date.now() / 1000) - 3600
  const tokens = {
    'the token is malformed': 'abc',
    'the token has expired': await sign(key, { aud: 'mcp', exp: past }),
    'the token is for another audience': await sign(key, { aud: 'other' }),
    'the issuer of the token is not known': await sign(key, { aud: 'mcp', iss: 'https://other.test/' }),
    'the signature of the token is wrong': await sign(createSigningKey('main'), { aud: 'mcp' }),
  }
  for (const [reason, token] of Object.entries(tokens)) {
    const { status, headers, body } = await ask(bearer(token))
    assert.equal(status, 401)
    const expected = `Bearer ${PLACE}, error="invalid_token", error_description="${reason}"`
    assert.equal(headers['www-authenticate'], expected)
    assert.deepEqual(JSON.parse(body), { error: 'invalid_token', error_description: reason })
  }
  assert.equal((await ask(bearer(await sign(key, { aud: 'mcp' })))).status, 200)
  assert.equal(origin.seen.length, 1)
  assert.equal(origin.seen[0]!.headers.authorization, undefined)
  await gateway.finished(7)
  assert.deepEqual(
    gateway.records.map(({ reason }) => reason),
    [...Array.from({ length: 6 }, () => 'JwtAuth'), 'Upstream'],
  )
})

test('tricks with algorithms and key places of the token are refused', async (t) => {
  const { origin, ask } = await setUp(t)
  const claims = { iss: issuer, aud: 'mcp', sub: 'eve', exp: Math.floor(Date.now() / 1000) + 600 }
  const pem = key.publicKey.export({ type: 'spki', format: 'pem' })
  const unsigned = forge({ alg: 'HS256', kid: 'main' }, claims).split('.').slice(0, 2).join('.')
  const forged = [
    forge({ alg: 'none', kid: 'main' }, claims),
    forge({ alg: 'NoNe' }, claims),
    `${unsigned}.${createHmac('sha256', pem).update(unsigned).digest('base64url')}`,
    await sign(createSigningKey('main'), { aud: 'mcp' }, { jku: 'http://127.0.0.1:1/keys' }),
    await sign(key, { aud: 'mcp' }, { crit: ['b64'], b64: true }),
  ]
  for (const token of forged) assert.equal((await ask(bearer(token))).status, 401)
  assert.equal(origin.seen.length, 0)
})

test('two tokens, and one in the query, are no way in', async (t) => {
  const { origin, gateway, ask } = await setUp(t)
  const token = await sign(key, { aud: 'mcp' })
  const lines = `authorization: Bearer ${token}\r\nauthorization: Bearer ${token}`
  const twice = await sendRaw(gateway.port(), `GET /mcp HTTP/1.1\r\nhost: test.example\r\n${lines}\r\n\r\n`)
  assert.equal(twice.status, 401)
  assert.match(twice.headers['www-authenticate']!, /error="invalid_request"/)
  assert.equal((await ask({}, `/mcp?access_token=${token}`)).status, 401)
  assert.equal(origin.seen.length, 0)
})

test('Optional lets requests without a token pass, Permissive all', async (t) => {
  const optional = await setUp(t, { mode: 'Optional' })
  assert.equal((await optional.ask()).status, 200)
  assert.equal((await optional.ask(bearer('abc'))).status, 401)
  const permissive = await setUp(t, { mode: 'permissive' })
  assert.equal((await permissive.ask()).status, 200)
  assert.equal((await permissive.ask(bearer('abc'))).status, 200)
})

test('the token goes on only where passthrough says so', async (t) => {
  const token = await sign(key, { aud: 'mcp' })
  const { origin, ask } = await setUp(t, {}, { backend: { auth: { passthrough: {} } } })
  assert.equal((await ask(bearer(token))).status, 200)
  assert.equal(origin.seen[0]!.headers.authorization, `Bearer ${token}`)
})

test('scopes and the URL of the endpoint come from the metadata of the config', async (t) => {
  const resourceMetadata = {
    resource: 'https://mcp.example.com/mcp',
    scopesSupported: ['read', 'write'],
    bearerMethodsSupported: ['header'],
    resource_documentation: 'https://docs.example.com/',
  }
  const { ask } = await setUp(t, { resourceMetadata })
  assert.equal(
    (await ask()).headers['www-authenticate'],
    'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", scope="read write"',
  )
  assert.deepEqual(JSON.parse((await ask({}, '/.well-known/oauth-protected-resource/mcp')).body), {
    resource: 'https://mcp.example.com/mcp',
    authorization_servers: [issuer],
    mcp_protocol_version: '2025-06-18',
    resource_type: 'mcp-server',
    scopes_supported: ['read', 'write'],
    bearer_methods_supported: ['header'],
    resource_documentation: 'https://docs.example.com/',
  })
})

test('the scheme is that of a trusted proxy, and not what a client claims', async (t) => {
  const origin = await useOrigin(t)
  const schemeFor = async (frontend: object): Promise<string> => {
    const route = routeTo(origin, { mcpAuthentication: base }, pathPrefix('/mcp'))
    const gateway = await useGateway(t, httpConfig([route], { frontend }))
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.test' }
    const { body } = await request(gateway.port(), { path: '/.well-known/oauth-protected-resource/mcp', headers })
    return (JSON.parse(body) as { resource: string }).resource
  }
  assert.equal(await schemeFor({}), 'http://test.example/mcp')
  const trusted = { forwardedHeaders: { trustedProxies: ['127.0.0.0/8'] } }
  assert.equal(await schemeFor(trusted), 'https://test.example/mcp')
})

test('a path cannot break out of the challenge', async (t) => {
  const { gateway } = await setUp(t)
  const { headers } = await request(gateway.port(), { path: '/mcp/a",x="b' })
  assert.equal(
    headers['www-authenticate'],
    'Bearer resource_metadata="http://test.example/.well-known/oauth-protected-resource/mcp/a%22,x=%22b"',
  )
})

test('SPEC 5.3 and 5.4: strict, an issuer with a slash, audiences, a key URL, and a rule on permissions', async (t) => {
  const idp = await useAuth0(t)
  const url = `${idp.issuer}.well-known/jwks.json`
  const { ask, origin } = await setUp(
    t,
    { mode: 'strict', issuer: idp.issuer, audiences: ['https://mcp.example.com'], jwks: { url } },
    { authorization: { rules: ['"read:tools" in jwt.permissions'] } },
  )
  const token = (claims: object) => idp.token({ aud: ['https://mcp.example.com', 'userinfo'], ...claims })
  assert.equal((await ask(bearer(await token({ permissions: ['read:tools'] })))).status, 200)
  assert.equal((await ask(bearer(await token({ permissions: ['write:tools'] })))).status, 403)
  assert.equal((await ask(bearer(await token({})))).status, 403)
  assert.equal((await ask(bearer(await token({ aud: 'userinfo', permissions: ['read:tools'] })))).status, 401)
  assert.equal((await ask()).status, 401)
  assert.equal(origin.seen.length, 1)
})

test('without jwks the keys are where the identity provider has them', async (t) => {
  const [auth0, keycloak] = [await useAuth0(t), await useKeycloak(t)]
  for (const [idp, provider] of [
    [auth0, 'auth0'],
    [auth0, undefined],
    [keycloak, 'Keycloak'],
  ] as const) {
    const { ask } = await setUp(t, { issuer: idp.issuer, jwks: undefined, provider })
    assert.equal((await ask(bearer(await idp.token({ aud: 'mcp' })))).status, 200)
  }
})

test('configs that cannot work are refused at their place', async (t) => {
  const start = (policies: object) => useGateway(t, httpConfig([routeTo({ host: '127.0.0.1:1' }, policies)]))
  const providers = [{ issuer: 'not a url', jwks: base.jwks }]
  await assert.rejects(
    start({ mcpAuthentication: { ...base, issuer: 'idp' } }),
    /issuer.*expected the URL of an issuer/s,
  )
  await assert.rejects(
    start({ mcpAuthentication: { ...base, issuer: 'https://a/?x=1' } }),
    /expected the URL of an issuer/,
  )
  await assert.rejects(start({ mcpAuthentication: { ...base, provider: 'Okta' } }), /`Auth0` or `Keycloak`/)
  await assert.rejects(
    start({ jwtAuthentication: { providers, mcp: {} } }),
    /issuer.*because MCP clients are directed there/s,
  )
  await assert.rejects(
    start({ mcpAuthentication: base, jwtAuthentication: { providers } }),
    /beside `jwtAuthentication`[^]*use `jwtAuthentication.mcp`/,
  )
  await assert.rejects(
    start({ mcpAuthentication: { ...base, resourceMetadata: { resource: 'mcp' } } }),
    /expected the URL of the endpoint/,
  )
})
