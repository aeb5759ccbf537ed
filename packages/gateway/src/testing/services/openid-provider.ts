import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { Provider } from 'oidc-provider'
import type { SigningKey } from './issuer.ts'

/** A certified OpenID provider on loopback, whose keys the test changes while it runs. */
export interface OpenIdProvider {
  issuer: string
  host: string
  port: number
  /** The path of the key set. */
  jwksPath: string
  jwksRequests(): number
  /** Replaces the keys; the first key signs. */
  useKeys(...keys: SigningKey[]): void
  /** Requests an access token with the client credentials grant. */
  token(scope?: string): Promise<string>
  /** Signs in and consents, as a person does in the browser; returns the parameters of the redirect to the client. */
  authorize(url: URL, login?: string): Promise<URLSearchParams>
}

export async function useOpenIdProvider(t: TestContext, ...keys: SigningKey[]): Promise<OpenIdProvider> {
  let jwksRequests = 0
  let handler: RequestListener = () => {}
  const server = createServer((request, response) => {
    if (request.url === '/jwks') jwksRequests++
    handler(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const issuer = `http://127.0.0.1:${port}`
  const useKeys = (...keys: SigningKey[]): void => {
    handler = quietly(() => new Provider(issuer, configuration(keys))).callback()
  }
  useKeys(...keys)
  return {
    issuer,
    host: `127.0.0.1:${port}`,
    port,
    jwksPath: '/jwks',
    jwksRequests: () => jwksRequests,
    useKeys,
    authorize: signIn,
    async token(scope = 'read') {
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${CLIENT.client_id}:${CLIENT.client_secret}`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', scope }),
      })
      const answer = (await response.json()) as { access_token?: string }
      assert.ok(answer.access_token, JSON.stringify(answer))
      return answer.access_token
    },
  }
}

async function signIn(url: URL, login = 'alice'): Promise<URLSearchParams> {
  const jar = new Map<string, string>()
  const open = async (place: URL, form?: Record<string, string>): Promise<URL> => {
    const response = await fetch(place, {
      redirect: 'manual',
      headers: { cookie: Array.from(jar, ([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    const text = await response.text()
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      jar.set(name!, value!)
    }
    const next = response.headers.get('location')
    assert.ok(next, `${response.status} ${place.href} ${text}`)
    return new URL(next, place)
  }
  const forms: Record<string, string>[] = [{ prompt: 'login', login, password: 'any' }, { prompt: 'consent' }]
  let place = await open(url)
  while (place.origin === url.origin) {
    place = place.pathname.startsWith('/interaction/') ? await open(place, forms.shift()) : await open(place)
  }
  return place.searchParams
}

const CLIENT = {
  client_id: 'app',
  client_secret: 'app-secret',
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
}

const LIVING = ['ClientCredentials', 'AccessToken', 'RefreshToken', 'IdToken', 'Interaction', 'Session', 'Grant']

function configuration(keys: readonly SigningKey[]): object {
  const alg = keys[0]!.alg
  return {
    clients: [{ ...CLIENT, id_token_signed_response_alg: alg }],
    jwks: { keys: keys.map((key) => ({ ...key.privateKey.export({ format: 'jwk' }), kid: key.kid, alg, use: 'sig' })) },
    scopes: ['openid', 'offline_access', 'read', 'write'],
    clientDefaults: { id_token_signed_response_alg: alg },
    claims: { openid: ['sub'] },
    ttl: Object.fromEntries(LIVING.map((name) => [name, 3600])),
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => 'urn:api',
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'read write',
          audience: 'api',
          accessTokenFormat: 'jwt',
          accessTokenTTL: 3600,
          jwt: { sign: { alg } },
        }),
      },
    },
  }
}

/** It warns of what a test does not mind: memory as storage, a runtime without the name of a long-term release. */
function quietly<T>(action: () => T): T {
  const { warn } = console
  console.warn = () => {}
  try {
    return action()
  } finally {
    console.warn = warn
  }
}
