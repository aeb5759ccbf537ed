import { isCredentialHeader } from '../../redaction/credential-names.ts'
import type { HeaderBlock } from '@portico/http'

/** Headers of a client's request that a target gets to see; credentials only where the config says so. */
export function forwardedHeaders(headers: HeaderBlock, withCredentials: boolean): HeaderBlock {
  const forwarded = headers.clone()
  forwarded.removeWhere((name) => OWN.has(name) || (!withCredentials && isCredentialHeader(name)))
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
