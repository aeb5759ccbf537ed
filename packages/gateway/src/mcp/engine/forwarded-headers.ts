import { isCredentialHeader } from '../../redaction/credential-names.ts'
import type { HeaderBlock } from '@portico/http'

/** Returns the headers of a client's request for a target; credentials are included only if the config says so. */
export function forwardedHeaders(headers: HeaderBlock, withCredentials: boolean): HeaderBlock {
  const forwarded = headers.clone()
  forwarded.removeWhere((name) => OWN.has(name) || (!withCredentials && isCredentialHeader(name)))
  // The gateway has to read responses to merge them.
  forwarded.set('accept-encoding', 'identity')
  return forwarded
}

/** Headers about the hop to the gateway: its body, session and stream, and the calling page. */
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
