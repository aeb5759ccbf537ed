import { parseBackendUrl, urlKey } from '../../../formats/address.ts'
import type { IdentityProvider } from '../../../mcp/oauth/config.ts'
import { createOauth } from '../../../mcp/oauth/oauth.ts'
import { tokenCheck } from '../../../pipeline/jwt/authenticate.ts'
import type { KeysConfig } from '../../../pipeline/jwt/keys.ts'
import { implement } from '../../../pipeline/context/step.ts'
import type { McpAuthenticationConfig } from './schema.ts'

export const mcpAuthentication = implement<McpAuthenticationConfig>((config, env) => {
  const { mode, issuer, audiences, provider, resourceMetadata } = config
  const issuers = [{ issuer, audiences, jwks: config.jwks ?? defaultKeys(issuer, provider) }]
  const oauth = createOauth({ issuers, provider, resourceMetadata }, env)
  const check = tokenCheck({ mode, providers: issuers }, env, oauth.challenge)
  return { request: (rx) => oauth.serve(rx) ?? check(rx) }
})

/** The URL of the identity provider's keys when the config names none. */
function defaultKeys(issuer: string, provider: IdentityProvider | undefined): KeysConfig {
  const url = parseBackendUrl(issuer)
  if (url === null) throw new Error(`${issuer} is no URL`)
  const folder = url.path.endsWith('/') ? url.path : `${url.path}/`
  const path = folder + (provider === 'Keycloak' ? 'protocol/openid-connect/certs' : '.well-known/jwks.json')
  return { url: { backend: urlKey(url), authority: url.authority, path } }
}
