import type { HeaderBlock } from '../../net/header-block.ts'

/** Headers of a client's request that a target gets to see; credentials only where the config says so. */
export function forwardedHeaders(headers: HeaderBlock, withCredentials: boolean): HeaderBlock {
  const forwarded = headers.clone()
  forwarded.removeWhere((name) => OWN.has(name) || (!withCredentials && CREDENTIALS.has(name)))
  // What cannot be read cannot be merged.
  forwarded.set('accept-encoding', 'identity')
  return forwarded
}

/** About the hop to the gateway: its body, its session, its stream, and the page that called. */
const OWN = new Set([
  'accept',
  'accept-encoding',
  'content-encoding',
  'content-length',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'origin',
  'referer',
])

/** Where clients show who they are: to the gateway, not to whoever is behind it. */
const CREDENTIALS = new Set([
  'api-key',
  'apikey',
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-access-token',
  'x-amz-security-token',
  'x-api-key',
  'x-auth-token',
  'x-goog-api-key',
])
