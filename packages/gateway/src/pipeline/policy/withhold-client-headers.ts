import { isCredentialHeader, isVendorCredentialHeader } from '../../redaction/credential-names.ts'
import { type HeaderBlock, isForwardingHeader } from '@portico/http'

/**
 * `withholdClientHeaders` removes what a client tells the gateway alone: cookies, credentials, the address of the client.
 * It runs before the policies of the backend, so a header that a policy sets goes on. `keepsKey` leaves the client's own
 * key for the vendor: no policy shows another one, and the vendor is the one that the key is for.
 */
export function withholdClientHeaders(headers: HeaderBlock, { keepsKey }: { keepsKey: boolean }): void {
  headers.removeWhere(keepsKey ? isForGatewayAlone : isForGateway)
}

function isForGateway(name: string): boolean {
  return isCredentialHeader(name) || isForwardingHeader(name) || CLIENT_ADDRESS.has(name)
}

function isForGatewayAlone(name: string): boolean {
  return isForGateway(name) && !isVendorCredentialHeader(name)
}

/** Content delivery networks and load balancers name the client's address here. */
const CLIENT_ADDRESS: ReadonlySet<string> = new Set([
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'fastly-client-ip',
  'true-client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-original-forwarded-for',
])
