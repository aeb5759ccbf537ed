import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { PemChecks } from './translate/context.ts'

/** By the runtime's own eyes, so that a listener is not given what it cannot use. */
export const pemChecks: PemChecks = {
  pair(cert, key) {
    try {
      const own = new X509Certificate(cert)
      return own.checkPrivateKey(createPrivateKey(key)) ? null : 'the key does not belong to the certificate'
    } catch {
      return 'not a certificate and its key in PEM'
    }
  },
  authorities(pem) {
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
    try {
      const all = blocks.map((block) => new X509Certificate(block))
      return all.length === 0 ? 'there is no certificate in PEM' : null
    } catch {
      return 'a certificate cannot be read'
    }
  },
}
