import { isCredentialHeader, isVendorCredentialHeader } from '../../formats/credential-names.ts'
import type { HeaderBlock } from '../../net/header-block.ts'
import { isForwardingHeader } from '../../net/field-rules.ts'
import type { CredentialPlace } from './provider.ts'

/**
 * `withholdClientHeaders` removes what a client tells the gateway alone: cookies, credentials, the address of the client.
 * It runs before the policies of the backend, so a header that a policy sets goes on. A client's own key for the vendor
 * stays when no policy shows another one.
 */
export function withholdClientHeaders(headers: HeaderBlock, { by }: CredentialPlace): void {
  headers.removeWhere(by === 'client' ? isForGatewayAlone : isForGateway)
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
