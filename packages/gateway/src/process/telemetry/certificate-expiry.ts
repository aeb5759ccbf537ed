import type { X509Certificate } from 'node:crypto'
import type { Listener } from '../../ir/resources.ts'
import { readCertificates } from '@portico/http/server'
import type { LabelValues } from '../../telemetry/metrics/families.ts'

/** The labels of a certificate, and its expiry in seconds since the epoch. */
export type CertificateExpiry = readonly [LabelValues<'tls_certificate_not_after_seconds'>, number]

/** The certificates and client CAs of all listeners. */
export function certificateExpiries(listeners: readonly Listener[]): CertificateExpiry[] {
  return listeners.flatMap(({ bind, name, tls }) => {
    if (tls === null) return []
    const shown = [tls, ...(tls.others ?? [])].map(({ cert }) => readCertificates(cert))
    const own = shown.flatMap(([first]) => first ?? [])
    const chains = shown.flatMap(([, ...chain]) => chain)
    const authorities = tls.root === null ? [] : readCertificates(tls.root)
    return [
      ...distinct(own).map((certificate) => endOf(certificate, 'server')),
      ...distinct(chains).map((certificate) => endOf(certificate, 'chain')),
      ...distinct(authorities).map((certificate) => endOf(certificate, 'client_ca')),
    ]

    function endOf(certificate: X509Certificate, use: string): CertificateExpiry {
      const labels = [bind, name, use, nameOf(certificate), certificate.serialNumber] as const
      return [labels, Math.floor(Date.parse(certificate.validTo) / 1000)]
    }
  })
}

/** A series must be unique, and bundles may contain a certificate twice. */
function distinct(certificates: X509Certificate[]): X509Certificate[] {
  const seen = new Set<string>()
  return certificates.filter((certificate) => {
    const key = `${nameOf(certificate)} ${certificate.serialNumber}`
    return seen.size < seen.add(key).size
  })
}

/** The first alternative name, else the common name, else the whole subject. */
function nameOf({ subject, subjectAltName }: X509Certificate): string {
  const alternative = /^(?:DNS|IP Address|URI|email):([^,]+)/.exec(subjectAltName ?? '')?.[1]
  return alternative ?? /^CN=(.+)$/m.exec(subject ?? '')?.[1] ?? (subject ?? '').replaceAll('\n', ', ')
}
