import { parseBackendUrl, urlKey } from '../../formats/address.ts'
import type { KeysConfig } from '../../pipeline/jwt/keys.ts'
import type { IdentityProvider } from './config.ts'

/** Where an identity provider has its keys, unless the config says so. */
export function defaultKeys(issuer: string, provider: IdentityProvider | undefined): KeysConfig {
  const url = parseBackendUrl(issuer)!
  const folder = url.path.endsWith('/') ? url.path : `${url.path}/`
  const path = folder + (provider === 'Keycloak' ? 'protocol/openid-connect/certs' : '.well-known/jwks.json')
  return { url: { backend: urlKey(url), authority: url.authority, path } }
}
