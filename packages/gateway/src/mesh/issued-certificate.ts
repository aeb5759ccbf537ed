import { createPrivateKey, X509Certificate } from 'node:crypto'
import { formatSpiffe, parseSpiffe, type SpiffeId } from '../formats/spiffe.ts'

interface IssuedCertificate {
  /** The certificate and its intermediates, without roots, as PEM. */
  chain: string
  /** Expiry in milliseconds since 1970. */
  notAfter: number
}

interface Expectation {
  key: string
  identity: SpiffeId
  /** Root certificates of the mesh, as PEM. */
  roots: string
  /** Milliseconds since 1970. */
  now: number
}

/**
 * Checks a response of the CA: the certificate belongs to the key, names only the expected identity, is valid now, and
 * leads to a root of the mesh.
 */
export function checkIssued(
  pems: readonly string[],
  { key, identity, roots, now }: Expectation,
): IssuedCertificate | { problem: string } {
  let certificates: X509Certificate[]
  try {
    certificates = certificatesIn(pems.join('\n'))
  } catch {
    return { problem: 'the mesh CA issued a certificate that cannot be read' }
  }
  const [leaf, ...others] = certificates
  if (leaf === undefined) return { problem: 'the mesh CA issued no certificate' }
  if (!leaf.checkPrivateKey(createPrivateKey(key)))
    return { problem: 'the mesh CA issued a certificate of another key' }
  const expected = formatSpiffe(identity)
  const found = spiffeOf(leaf)
  if (found !== expected)
    return { problem: `the mesh CA issued a certificate for ${found ?? 'no identity'}, expected ${expected}` }
  const notAfter = leaf.validToDate.getTime()
  if (now >= notAfter)
    return { problem: `the mesh CA issued a certificate that expired at ${leaf.validToDate.toISOString()}` }
  const intermediates = others.filter((certificate) => !certificate.checkIssued(certificate))
  if (!leadsToRoot(leaf, intermediates, certificatesIn(roots))) {
    return { problem: 'the mesh CA issued a certificate that leads to no root of the root file' }
  }
  return { chain: [leaf, ...intermediates].map(String).join(''), notAfter }
}

/** Returns whether a certificate chain is still trusted by other roots. */
export function isTrusted(chain: string, roots: string): boolean {
  const [leaf, ...intermediates] = certificatesIn(chain)
  return leaf !== undefined && leadsToRoot(leaf, intermediates, certificatesIn(roots))
}

/** Returns the identity of a certificate; null unless its only URI is one. */
function spiffeOf({ subjectAltName = '' }: X509Certificate): string | null {
  // The runtime quotes names that could be mistaken for several names.
  const uris = subjectAltName.split(', ').filter((name) => name.startsWith('URI:'))
  const uri = uris.length === 1 ? uris[0]?.slice('URI:'.length) : undefined
  return uri !== undefined && parseSpiffe(uri) !== null ? uri : null
}

function leadsToRoot(
  leaf: X509Certificate,
  intermediates: readonly X509Certificate[],
  roots: readonly X509Certificate[],
): boolean {
  const isIssuer = (issuer: X509Certificate, certificate: X509Certificate): boolean =>
    certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
  let certificate = leaf
  const unused = new Set(intermediates)
  for (;;) {
    const current = certificate
    if (roots.some((root) => isIssuer(root, current))) return true
    const issuer = [...unused].find((each) => isIssuer(each, current))
    if (issuer === undefined) return false
    unused.delete(issuer)
    certificate = issuer
  }
}

/** Throws when a certificate cannot be read. */
function certificatesIn(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new X509Certificate(block))
}
