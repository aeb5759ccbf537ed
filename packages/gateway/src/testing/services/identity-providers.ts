import type { ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { createSigningKey, keySetOf, sign, type SigningKey } from './issuer.ts'
import type { SeenRequest } from '../origin.ts'
import { useOrigin } from '../scene.ts'

/** A fake of an identity provider, with metadata in the form of that provider, and tokens signed by its key. */
export interface StandIn {
  issuer: string
  key: SigningKey
  seen: SeenRequest[]
  /** Signs a token of this issuer. */
  token(claims?: object): Promise<string>
  /** Answers in place of the documents, by path. */
  answers: Map<string, (response: ServerResponse, request: SeenRequest) => void>
}

/** Its issuer ends with a slash; the client credentials grant takes JSON (SPEC 4.4). */
export function useAuth0(t: TestContext): Promise<StandIn> {
  return useStandIn(t, '/', (issuer, key) => ({
    '/.well-known/oauth-authorization-server': metadataOf(issuer, 'authorize', 'oauth/token', 'oidc/register'),
    '/.well-known/openid-configuration': metadataOf(issuer, 'authorize', 'oauth/token', 'oidc/register'),
    '/.well-known/jwks.json': JSON.parse(keySetOf(key)) as object,
  }))
}

/** Its realms have paths, its keys and its registration places of their own. */
export function useKeycloak(t: TestContext): Promise<StandIn> {
  const realm = '/realms/demo'
  return useStandIn(t, realm, (issuer, key) => ({
    [`${realm}/.well-known/openid-configuration`]: {
      ...metadataOf(
        `${issuer}/`,
        'protocol/openid-connect/auth',
        'protocol/openid-connect/token',
        'clients-registrations/openid-connect',
      ),
      issuer,
      authorization_response_iss_parameter_supported: true,
      mtls_endpoint_aliases: { token_endpoint: `${issuer}/protocol/openid-connect/token` },
    },
    [`${realm}/protocol/openid-connect/certs`]: JSON.parse(keySetOf(key)) as object,
    [`${realm}/clients-registrations/openid-connect`]: { client_id: 'made-by-keycloak', redirect_uris: [] },
  }))
}

function metadataOf(base: string, authorize: string, token: string, registration: string): object {
  return {
    issuer: base,
    authorization_endpoint: base + authorize,
    token_endpoint: base + token,
    registration_endpoint: base + registration,
    jwks_uri: `${base}.well-known/jwks.json`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
    code_challenge_methods_supported: ['S256'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  }
}

async function useStandIn(
  t: TestContext,
  path: string,
  documents: (issuer: string, key: SigningKey) => Record<string, object>,
): Promise<StandIn> {
  const key = createSigningKey('stand-in')
  const answers: StandIn['answers'] = new Map()
  const origin = await useOrigin(t, (seen, response) => {
    const special = answers.get(seen.url)
    if (special !== undefined) return special(response, seen)
    const document = documents(issuer, key)[seen.url]
    response.writeHead(document === undefined ? 404 : seen.method === 'POST' ? 201 : 200, {
      'content-type': 'application/json',
    })
    response.end(JSON.stringify(document ?? { error: 'not found' }))
  })
  const issuer = `http://${origin.host}${path}`
  const token = (claims: object = {}) => sign(key, { iss: issuer, ...claims })
  return { issuer, key, seen: origin.seen, token, answers }
}
