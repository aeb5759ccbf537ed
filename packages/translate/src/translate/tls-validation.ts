import type { BackendPolicies } from '@portico/gateway/schema'
import type { TlsValidation } from '../resources/backend-tls-policy.ts'
import type { Context } from './context.ts'
import { authoritiesOf, type Referrer, type Unusable } from './materials.ts'

export type BackendTls = NonNullable<BackendPolicies['tls']>

/** Returns the TLS settings of a BackendTLSPolicy or of an XBackend, or why they are invalid. */
export function validatedTls(
  context: Context,
  from: Referrer,
  validation: TlsValidation,
): { tls: BackendTls } | Unusable {
  const authorities = trustedAuthorities(context, from, validation)
  if ('reason' in authorities) return authorities
  const { hostname, names } = validation
  if (hostname === '') return { reason: 'Invalid', message: 'validation.hostname is missing' }
  return {
    tls: {
      ...(authorities.pem !== null && { caCertificateRefs: [authorities.pem] }),
      sni: hostname,
      verifySubjectAltNames: names.length > 0 ? names : [hostname],
    },
  }
}

/** Returns the CAs to verify backends with, and the first reference that is broken; `pem` is null for CAs of the system. */
export function trustedAuthorities(
  context: Context,
  from: Referrer,
  { authorities, wellKnown }: TlsValidation,
): { pem: string | null; problem: Unusable | null } | Unusable {
  if (wellKnown !== undefined) {
    if (authorities.length > 0) {
      return { reason: 'Invalid', message: 'wellKnownCACertificates and caCertificateRefs exclude each other' }
    }
    if (wellKnown === 'System') return { pem: null, problem: null }
    return { reason: 'Invalid', message: `wellKnownCACertificates ${wellKnown} is not supported` }
  }
  const found = authorities.map((reference): { pem: string } | Unusable => {
    const each = authoritiesOf(context, from, reference)
    // BackendTLSPolicy has its own name for this reason.
    return 'reason' in each && each.reason === 'InvalidCACertificateKind' ? { ...each, reason: 'InvalidKind' } : each
  })
  const good = found.flatMap((each) => ('pem' in each ? each.pem : []))
  const problem = found.find((each) => 'reason' in each) ?? null
  if (good.length > 0) return { pem: good.join('\n'), problem }
  return (
    problem ?? { reason: 'InvalidCACertificateRef', message: 'There are no CA certificates to verify backends with' }
  )
}
