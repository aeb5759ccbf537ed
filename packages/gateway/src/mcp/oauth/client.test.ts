import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { createSigningKey } from '../../testing/services/issuer.ts'
import { useMcpServer } from '../../testing/mcp/mcp-server.ts'
import { useOpenIdProvider } from '../../testing/services/openid-provider.ts'
import { httpConfig, pathPrefix, useGateway } from '../../testing/scene.ts'

/** Servers behind the gateway that know nothing of OAuth, and clients that do it all by themselves. */

const key = createSigningKey('1', 'RS256')

async function setUp(t: TestContext) {
  const idp = await useOpenIdProvider(t, key)
  const server = await useMcpServer(t)
  const mcpAuthentication = {
    issuer: idp.issuer,
    audiences: ['api'],
    jwks: { url: idp.issuer + idp.jwksPath },
    resourceMetadata: { scopesSupported: ['openid', 'read'] },
  }
  const targets = [{ name: 'one', static: { host: '127.0.0.1', port: server.port } }]
  const route = { ...pathPrefix('/mcp'), policies: { mcpAuthentication }, backends: [{ mcp: { targets } }] }
  const gateway = await useGateway(t, httpConfig([route]))
  const url = new URL(`http://127.0.0.1:${gateway.port()}/mcp`)
  return { idp, server, gateway, url }
}

/** The stored state of an OAuth client; the test takes the part of the browser. */
class Keeper implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1/callback'
  readonly clientMetadata = {
    redirect_uris: [this.redirectUrl],
    client_name: 'test',
    token_endpoint_auth_method: 'none',
  }
  asked: URL | null = null
  #client: OAuthClientInformationMixed | undefined
  #tokens: OAuthTokens | undefined
  #discovery: OAuthDiscoveryState | undefined
  #verifier = ''

  clientInformation = () => this.#client
  saveClientInformation = (client: OAuthClientInformationMixed) => void (this.#client = client)
  tokens = () => this.#tokens
  saveTokens = (tokens: OAuthTokens) => void (this.#tokens = tokens)
  redirectToAuthorization = (url: URL) => void (this.asked = url)
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier)
  codeVerifier = () => this.#verifier
  discoveryState = () => this.#discovery
  saveDiscoveryState = (state: OAuthDiscoveryState) => void (this.#discovery = state)
}

/** A client that came in as that person. */
async function signIn(t: TestContext, { idp, url }: Awaited<ReturnType<typeof setUp>>, login: string) {
  const keeper = new Keeper()
  const first = new StreamableHTTPClientTransport(url, { authProvider: keeper })
  await assert.rejects(new Client({ name: 'test', version: '1.0.0' }).connect(first), UnauthorizedError)
  assert.equal(keeper.asked?.origin, idp.issuer)
  await first.finishAuth(await idp.authorize(keeper.asked, login))
  const client = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(url, { authProvider: keeper })
  await client.connect(transport)
  t.after(() => client.close())
  return { client, session: transport.sessionId!, token: keeper.tokens()!.access_token }
}

test('a client of the SDK signs in and calls a tool, all by itself, and the server sees no token', async (t) => {
  const scene = await setUp(t)
  const { client } = await signIn(t, scene, 'alice')
  const result = await client.callTool({ name: 'echo', arguments: { text: 'hello' } })
  assert.deepEqual(result.content, [{ type: 'text', text: 'hello' }])
  assert.ok(scene.server.requests.length > 0)
  for (const { headers } of scene.server.requests) assert.equal(headers.authorization, undefined)
  assert.deepEqual(scene.gateway.bugs, [])
})

test('the session of one person is none for another', async (t) => {
  const scene = await setUp(t)
  const [alice, bob] = [await signIn(t, scene, 'alice'), await signIn(t, scene, 'bob')]
  const call = (session: string, token: string) =>
    fetch(scene.url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'mcp-session-id': session,
        'mcp-protocol-version': '2025-06-18',
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: '{"jsonrpc":"2.0","id":7,"method":"tools/list"}',
    })
  const own = await call(alice.session, alice.token)
  assert.match(await own.text(), /"echo"/)
  const stolen = await call(alice.session, bob.token)
  assert.equal(stolen.status, 404)
  assert.doesNotMatch(await stolen.text(), /"echo"/)
})
