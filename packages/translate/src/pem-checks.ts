import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { PemChecks } from '@portico/gateway/schema'

/** Checks with the runtime's own TLS code, so that a data plane gets only usable certificates. */
export const pemChecks: PemChecks = {
  pair(cert, key) {
    try {
      const own = new X509Certificate(cert)
      if (!own.checkPrivateKey(createPrivateKey(key))) return 'the key does not belong to the certificate'
    } catch {
      return 'not a certificate and its key in PEM'
    }
    try {
      // Without CAs the check is cheap; it also reads the rest of the chain.
      createSecureContext({ cert, key, ca: [] })
      return null
    } catch {
      return 'TLS rejects the certificate, or one of its chain'
    }
  },
  authorities(pem) {
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g) ?? []
    try {
      const all = blocks.map((block) => new X509Certificate(block))
      return all.length === 0 ? 'there is no certificate in PEM' : null
    } catch {
      return 'a certificate cannot be read'
    }
  },
}
