import type { MeshMember } from '@portico/http/client'
import { parseSpiffe } from '../formats/spiffe.ts'
import type { MeshIdentity } from './identity.ts'

/** Returns the identity of this gateway in the form that tunnels use. */
export function meshMember(identity: MeshIdentity): MeshMember {
  return {
    credentials() {
      const current = identity.current()
      if (current === null) return null
      return { version: current.version, cert: current.chain, key: current.key, roots: current.roots }
    },
    problem: () => identity.problem(),
    peerProblem: (uris, expected) => peerProblem(identity, uris, expected),
  }
}

/**
 * Returns why a peer with these URIs in its certificate is not accepted; null accepts the peer. `expected` is the SPIFFE
 * ID that the peer must have; null accepts every workload of the accepted trust domains.
 */
export function peerProblem(
  { acceptedTrustDomains }: Pick<MeshIdentity, 'acceptedTrustDomains'>,
  uris: readonly string[],
  expected: string | null,
): string | null {
  const [uri, second] = uris
  if (uri === undefined) return 'the certificate of the peer has no SPIFFE ID'
  if (second !== undefined) return 'the certificate of the peer has several URIs'
  const id = parseSpiffe(uri)
  if (id === null) return 'the SPIFFE ID of the peer names no service account'
  if (!acceptedTrustDomains.has(id.trustDomain)) return `the trust domain ${id.trustDomain} of the peer is not accepted`
  if (expected !== null && uri !== expected) return `the peer is ${uri}, not ${expected}`
  return null
}
