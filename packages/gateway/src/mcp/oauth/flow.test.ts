import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as current from '@modelcontextprotocol/client'
import * as former from '@modelcontextprotocol/sdk/client/auth.js'
import { request } from '../../testing/client.ts'
import { createSigningKey } from '../../testing/services/issuer.ts'
import { type OpenIdProvider, useOpenIdProvider } from '../../testing/services/openid-provider.ts'
import { httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../../testing/scene.ts'

/** The way of a client from its first refusal to its first answer, by the code of the official SDKs. */

const callback = 'http://127.0.0.1/callback'

const key = createSigningKey('1', 'RS256')

async function setUp(t: TestContext, policies: (idp: OpenIdProvider) => object, prefix = '/mcp') {
  const idp = await useOpenIdProvider(t, key)
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies(idp), pathPrefix(prefix))]))
  const port = gateway.port()
  return { idp, origin, port, url: `http://127.0.0.1:${port}${prefix}` }
}

const standalone = (idp: OpenIdProvider) => ({
  mcpAuthentication: {
    mode: 'strict',
    issuer: idp.issuer,
    audiences: ['api'],
    jwks: { url: idp.issuer + idp.jwksPath },
    resourceMetadata: { scopesSupported: ['read', 'write'] },
  },
})
const asPartOfJwt = (idp: OpenIdProvider) => ({
  jwtAuthentication: {
    providers: [{ issuer: idp.issuer, audiences: ['api'], jwks: { url: idp.issuer + idp.jwksPath } }],
    mcp: { resourceMetadata: { scopesSupported: ['read', 'write'] } },
  },
})

const call = (url: string, token?: string) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  })

for (const [line, sdk] of [
  ['2.x', current],
  ['1.x', former],
] as const) {
  for (const [name, policies] of [
    ['mcpAuthentication', standalone],
    ['jwtAuthentication.mcp', asPartOfJwt],
  ] as const) {
    test(`${name}: SDK ${line} finds, registers, asks for a code, gets a token and calls`, async (t) => {
      const { idp, origin, url } = await setUp(t, policies)
      const refused = await call(url)
      assert.equal(refused.status, 401)
      const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(refused)
      assert.equal(scope, 'read write')
      const resource = await sdk.discoverOAuthProtectedResourceMetadata(url, {
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
      })
      assert.equal(resource.resource, url)
      const server = resource.authorization_servers![0]!
      assert.equal(server, idp.issuer)
      const metadata = await sdk.discoverAuthorizationServerMetadata(server)
      assert.ok(metadata)
      const clientInformation = await sdk.registerClient(server, {
        metadata,
        clientMetadata: { redirect_uris: [callback], token_endpoint_auth_method: 'none', client_name: 'test' },
      })
      const started = await sdk.startAuthorization(server, {
        metadata,
        clientInformation,
        redirectUrl: callback,
        scope: 'openid read',
        resource: new URL(url),
      })
      const answer = await idp.authorize(started.authorizationUrl)
      assert.equal(answer.get('iss'), metadata.issuer)
      const tokens = await sdk.exchangeAuthorization(server, {
        metadata,
        clientInformation,
        authorizationCode: answer.get('code')!,
        iss: answer.get('iss')!,
        codeVerifier: started.codeVerifier,
        redirectUri: callback,
        resource: new URL(url),
      })
      const answered = await call(url, tokens.access_token)
      assert.equal(answered.status, 200)
      assert.equal(await answered.text(), 'ok')
      assert.equal(origin.seen.length, 1)
      assert.equal(origin.seen[0]!.headers.authorization, undefined, 'the token stays at the gateway')
    })
  }

  test(`SDK ${line} finds the metadata without the header, at the path and at the root`, async (t) => {
    const { idp, url, port } = await setUp(t, standalone)
    assert.equal((await sdk.discoverOAuthProtectedResourceMetadata(url)).resource, url)
    const root = await sdk.discoverOAuthProtectedResourceMetadata(`http://127.0.0.1:${port}/`)
    assert.equal(root.resource, `http://127.0.0.1:${port}`)
    assert.deepEqual(root.authorization_servers, [idp.issuer])
  })
}

for (const [name, policies] of [
  ['mcpAuthentication', standalone],
  ['jwtAuthentication.mcp', asPartOfJwt],
] as const) {
  test(`${name}: a 403 says that another scope would help, where that is what a rule asks for`, async (t) => {
    const rules = [
      { deny: 'request.headers["x-from"] == "abroad"' },
      { require: '"write" in default(jwt.scope, "").split(" ")' },
    ]
    const { idp, url } = await setUp(t, (found) => ({ ...policies(found), authorization: { rules } }))
    const authorization = `Bearer ${await idp.token()}`
    const refused = await fetch(url, { method: 'POST', headers: { authorization, 'x-from': 'home' }, body: '{}' })
    assert.equal(refused.status, 403)
    const challenge = refused.headers.get('www-authenticate')!
    const { resourceMetadataUrl, scope, error } = current.extractWWWAuthenticateParams(refused)
    assert.deepEqual([error, scope], ['insufficient_scope', 'read write'], challenge)
    assert.match(String(resourceMetadataUrl), /\/\.well-known\/oauth-protected-resource\/mcp$/)
    // This token has the scope: the rule against the request asks for none.
    const able = `Bearer ${await idp.token('read write')}`
    const abroad = await fetch(url, {
      method: 'POST',
      headers: { authorization: able, 'x-from': 'abroad' },
      body: '{}',
    })
    assert.deepEqual([abroad.status, abroad.headers.get('www-authenticate')], [403, null])
    const home = await fetch(url, { method: 'POST', headers: { authorization: able, 'x-from': 'home' }, body: '{}' })
    assert.equal(home.status, 200)
  })
}

test('a 403 that has nothing to do with scopes says nothing of them', async (t) => {
  const rules = [{ deny: 'request.headers["x-from"] == "abroad"' }]
  const { idp, url } = await setUp(t, (found) => ({ ...standalone(found), authorization: { rules } }))
  const authorization = `Bearer ${await idp.token()}`
  const refused = await fetch(url, { method: 'POST', headers: { authorization, 'x-from': 'abroad' }, body: '{}' })
  assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [403, null])
})

test('SPEC 5.3: a token of the client credentials grant opens the way, as the standalone example has it', async (t) => {
  const { idp, port, origin } = await setUp(t, standalone)
  const ask = (headers: Record<string, string>) => request(port, { method: 'POST', path: '/mcp', headers, body: '{}' })
  assert.equal((await ask({})).status, 401)
  assert.equal((await ask({ authorization: `Bearer ${await idp.token()}` })).status, 200)
  assert.equal(origin.seen.length, 1)
})
