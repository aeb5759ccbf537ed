import { parseBackendUrl } from '../../../formats/address.ts'
import { map } from '../../kit.ts'
import type { Deprecation, Schema } from '../../kit.ts'
import { enumeration, json, textual } from '../values.ts'

/** Fields that the three ways to configure MCP OAuth share. */

/** The URL of an issuer, which also serves the metadata of the authorization server. */
export function issuerUrl({ refers = null }: { refers?: Deprecation | null } = {}): Schema<string> {
  return textual<string>((text) => (text.length <= 256 && isIssuer(text) ? text : null), {
    type: 'URL',
    expected: 'the URL of an issuer, such as `https://idp.example.com/`, without user, query or fragment',
    json: { type: 'string', minLength: 8, maxLength: 256, pattern: '^[hH][tT][tT][pP][sS]?://' },
    refers,
  })
}

/** RFC 8414 section 2: no query and no fragment. */
export function isIssuer(text: string): boolean {
  return !text.includes('?') && parseBackendUrl(text) !== null
}

export function identityProvider() {
  return enumeration(['Auth0', 'Keycloak'])
    .optional()
    .describe(
      'The gateway serves clients an adapted copy of the metadata of this identity provider. When unset, clients read the metadata from the issuer.',
    )
}

export function resourceMetadata() {
  return map(json({ max: 8_192 }).describe('The value.'), { max: 64 })
    .prefault({})
    .describe(
      'Fields of the protected-resource metadata; they replace the defaults. `scopesSupported` becomes `scopes_supported`. Set `resource` to the public URL of the endpoint if it differs from the URL of requests.',
    )
}
