import { X509Certificate } from 'node:crypto'

/** Returns the certificates of a PEM text in order, without unreadable ones. */
export function readCertificates(pem: string): X509Certificate[] {
  return blocksOf(pem).flatMap((block) => {
    try {
      return [new X509Certificate(block)]
    } catch {
      return []
    }
  })
}

function blocksOf(pem: string): string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g) ?? []
}

/**
 * The TLS library skips unreadable CA certificates, and would then trust nobody; so the problem is reported at load.
 */
export function findAuthorityProblem(pem: string): string | null {
  const blocks = blocksOf(pem)
  if (blocks.length === 0) return 'no CA certificate in PEM form found'
  for (const [index, block] of blocks.entries()) {
    try {
      void new X509Certificate(block)
    } catch {
      return `CA certificate ${index + 1} cannot be read`
    }
  }
  return null
}

/** Returns OpenSSL's reason for an error, without its number and library. */
export function opensslReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.replace(/^error:[0-9A-F]+:[^:]*:[^:]*:/, '')
}
