import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { OauthConfig } from './config.ts'

/** The protected resource: its URL and its metadata. */
export interface Resource {
  /** Returns the scheme and host that clients use; null when the request has no valid host. */
  originOf(rx: RequestContext): string | null
  /** Returns the metadata of RFC 9728 section 2; `identifier` is the URL of the resource. */
  metadata(identifier: string): Record<string, unknown>
}

export function createResource({ issuers, provider, resourceMetadata }: OauthConfig): Resource {
  const members = Object.fromEntries(Object.entries(resourceMetadata).map(([name, value]) => [snakeCase(name), value]))
  const fixed = originIn(members['resource'])
  return {
    originOf: (rx) => fixed ?? requestOrigin(rx),
    metadata: (identifier) => ({
      resource: identifier,
      // The gateway serves the metadata of an adapted authorization server itself.
      authorization_servers: provider === undefined ? issuers.map(({ issuer }) => issuer) : [identifier],
      mcp_protocol_version: '2025-06-18',
      resource_type: 'mcp-server',
      ...members,
    }),
  }
}

/** Converts camel case, such as `scopesSupported`, to `scopes_supported`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function originIn(resource: unknown): string | null {
  return typeof resource === 'string' && URL.canParse(resource) ? new URL(resource).origin : null
}

/** Returns the origin of the request. The gateway, or a trusted proxy before it, has set `x-forwarded-proto`. */
function requestOrigin(rx: RequestContext): string | null {
  const [first = ''] = (rx.headers.get('x-forwarded-proto') ?? '').split(',', 1)
  const forwarded = first.trim().toLowerCase()
  const scheme = forwarded === 'http' || forwarded === 'https' ? forwarded : rx.scheme
  const { authority } = rx.exchange
  return /^[a-z0-9._~[\]:-]+$/i.test(authority) ? `${scheme}://${authority.toLowerCase()}` : null
}
