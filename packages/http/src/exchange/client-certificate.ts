import type { X509Certificate } from 'node:crypto'
import { namesIn, principalOf, subjectText } from './principal.ts'

/** The fields of a verified client certificate that expressions can read. */
export interface ClientCertificate {
  /** The first URI, or else the first host name, or else the subject. */
  readonly principal: string
  /** Subject in the order of RFC 4514: `CN=client,O=Example`. */
  readonly subject: string
  readonly issuer: string
  /** Names with their types: `DNS:a.example`, `URI:spiffe://example/client`. */
  readonly subjectAltNames: readonly string[]
  /** Hexadecimal, lower case. */
  readonly serialNumber: string
  /** SHA-256 of the certificate, in 64 hexadecimal digits, lower case. */
  readonly fingerprint: string
}

export function readClientCertificate(certificate: X509Certificate): ClientCertificate {
  return {
    principal: principalOf(certificate),
    subject: subjectText(certificate.subject),
    issuer: subjectText(certificate.issuer),
    subjectAltNames: namesIn(certificate.subjectAltName),
    serialNumber: certificate.serialNumber.toLowerCase(),
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
  }
}
