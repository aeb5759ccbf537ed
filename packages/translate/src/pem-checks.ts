import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { PemChecks } from '@portico/gateway/schema'

/** By the runtime's own eyes, so that a data plane is not given what it cannot use. */
export const pemChecks: PemChecks = {
  pair(cert, key) {
    try {
      const own = new X509Certificate(cert)
      if (!own.checkPrivateKey(createPrivateKey(key))) return 'the key does not belong to the certificate'
    } catch {
      return 'not a certificate and its key in PEM'
    }
    try {
      // Without authorities it costs little; the rest of the chain is read too.
      createSecureContext({ cert, key, ca: [] })
      return null
    } catch {
      return 'TLS refuses the certificate, or one of its chain'
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
