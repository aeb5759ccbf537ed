import { X509Certificate, createPrivateKey } from 'node:crypto'

/** The fault of certificates in PEM form, or null. */
export function certificateFault(pem: string): string | null {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)
  if (blocks === null) return 'found no certificate in the file'
  for (const block of blocks) {
    const fault = faultOf(() => new X509Certificate(block))
    if (fault !== null) return `found a broken certificate (${fault})`
  }
  return null
}

export function keyFault(pem: string): string | null {
  const fault = faultOf(() => createPrivateKey(pem))
  return fault === null ? null : `found no usable key (${fault})`
}

export function pairFault(cert: string, key: string): string | null {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)) ? null : 'found a key of another certificate'
}

function faultOf(action: () => unknown): string | null {
  try {
    action()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
