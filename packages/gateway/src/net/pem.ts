import { X509Certificate } from 'node:crypto'

/** The TLS library skips what it cannot read in a list of authorities, and then trusts nobody; so say it at load. */
export function findAuthorityProblem(pem: string): string | null {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g)
  if (blocks === null) return 'no CA certificate in PEM form found'
  for (const [index, block] of blocks.entries()) {
    try {
      void new X509Certificate(block)
    } catch {
      return `CA certificate ${index + 1} cannot be read`
    }
  }
  return null
}
