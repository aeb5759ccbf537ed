import { X509Certificate } from 'node:crypto'
import type { FindingTarget } from '../check.ts'
import { configsOf, type LintSubject } from '../subject.ts'

interface ConfiguredCertificate {
  readonly certificate: X509Certificate
  readonly target: FindingTarget
  /** Whether the certificate is a CA that verifies others. */
  readonly isAuthority: boolean
}

/** All certificates of a config, the first of each chain. */
export function certificatesOf(subject: LintSubject): ConfiguredCertificate[] {
  const listeners = subject.ir.listeners.flatMap((listener) => {
    const { tls } = listener
    if (tls === null) return []
    const at = (key: string): FindingTarget => ({ part: listener, path: ['tls', key] })
    return [...read(tls.cert, at('cert'), false), ...(tls.root === null ? [] : read(tls.root, at('root'), true))]
  })
  const backends = configsOf(subject, 'backend', 'tls').flatMap((part) => [
    ...read(part.mtlsCertificateRef?.cert, { part, path: ['mtlsCertificateRef'] }, false),
    ...(part.caCertificateRefs ?? []).flatMap((pem, index) =>
      read(pem, { part, path: ['caCertificateRefs', index] }, true),
    ),
  ])
  return [...listeners, ...backends]
}

function read(pem: unknown, target: FindingTarget, isAuthority: boolean): ConfiguredCertificate[] {
  if (typeof pem !== 'string') return []
  try {
    return [{ certificate: new X509Certificate(pem), target, isAuthority }]
  } catch {
    // Loading the config has reported certificates that cannot be read.
    return []
  }
}
