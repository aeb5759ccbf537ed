import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { OauthConfig } from './config.ts'

/** How the protected endpoint is called in URLs, and what is said of it. */
export interface Resource {
  /** Scheme and host as clients know them; null where the request names no usable host. */
  originOf(rx: RequestContext): string | null
  /** RFC 9728 section 2. `identifier` is the URL that the document was asked for. */
  metadata(identifier: string): Record<string, unknown>
}

export function createResource({ issuers, provider, resourceMetadata }: OauthConfig): Resource {
  const members = Object.fromEntries(Object.entries(resourceMetadata).map(([name, value]) => [snakeCase(name), value]))
  const fixed = originIn(members['resource'])
  return {
    originOf: (rx) => fixed ?? requestOrigin(rx),
    metadata: (identifier) => ({
      resource: identifier,
      // An adapted authorization server is one that clients come to the gateway for.
      authorization_servers: provider === undefined ? issuers.map(({ issuer }) => issuer) : [identifier],
      mcp_protocol_version: '2025-06-18',
      resource_type: 'mcp-server',
      ...members,
    }),
  }
}

/** `scopesSupported` → `scopes_supported`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function originIn(resource: unknown): string | null {
  return typeof resource === 'string' && URL.canParse(resource) ? new URL(resource).origin : null
}

/** `x-forwarded-proto` says what the gateway saw, or what a trusted proxy before it did. */
function requestOrigin(rx: RequestContext): string | null {
  const [first = ''] = (rx.headers.get('x-forwarded-proto') ?? '').split(',', 1)
  const forwarded = first.trim().toLowerCase()
  const scheme = forwarded === 'http' || forwarded === 'https' ? forwarded : rx.scheme
  const { authority } = rx.exchange
  return /^[a-z0-9._~[\]:-]+$/i.test(authority) ? `${scheme}://${authority.toLowerCase()}` : null
}
