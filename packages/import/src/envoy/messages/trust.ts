import type { Field } from '../../core/yaml-field.ts'
import { listAt, memberAt } from './message.ts'
import { fileOf, type Secrets } from './secrets.ts'
import { readStringMatcher, type TextTest } from './string-matcher.ts'

/** The rules by which the certificate of a server is verified. */
interface Trust {
  /** The file of certificate authorities; null for the authorities of the system. */
  readonly file: string | null
  /** Subject names of which the certificate must have one. */
  readonly names: readonly string[]
}

const SYSTEM_STORES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/ssl/cert.pem',
  '/etc/ssl/certs/ca-bundle.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
]

/** Reads how a cluster verifies servers; null when Envoy does not verify them. */
export function trustOf(common: Field | null, secrets: Secrets): Trust | null {
  const context = validationContext(common, secrets)
  if (context === null) return null
  const authorities = memberAt(context, 'trusted_ca')
  const path = memberAt(authorities, 'filename')
  memberAt(context, 'system_root_certs')?.carried()
  if (SYSTEM_STORES.includes(path?.text ?? '')) path?.carried('the gateway uses the trust store of the system')
  const file = SYSTEM_STORES.includes(path?.text ?? '') ? null : fileOf(authorities)
  if (authorities !== null && path === null)
    authorities.notCarried(
      'the gateway reads certificate authorities from a file; write them to a file: docs/policies/backend-tls.md',
      true,
    )
  const names = subjectTests(context).flatMap(({ field, test }) => {
    if (typeof test !== 'string' && 'exact' in test && test.exact.length <= 256) {
      field.carried()
      return [test.exact]
    }
    field.notCarried('the gateway compares names literally; only the name of the backend is verified', true)
    return []
  })
  for (const name of UNSUPPORTED)
    memberAt(context, name)?.notCarried('the gateway verifies certificates only by chain and name', true)
  return { file, names: names.slice(0, 16) }
}

export const UNSUPPORTED = [
  'verify_certificate_hash',
  'verify_certificate_spki',
  'crl',
  'custom_validator_config',
  'watched_directory',
  'max_verify_depth',
  'only_verify_leaf_cert_crl',
  'require_signed_certificate_timestamp',
]

/** Returns comparisons for the subject names of a certificate, of which one must hold. */
export function subjectTests(context: Field | null): { field: Field; test: TextTest | string }[] {
  const typed = listAt(context, 'match_typed_subject_alt_names').map((field) => ({
    field,
    test: readStringMatcher(memberAt(field, 'matcher')),
  }))
  const plain = listAt(context, 'match_subject_alt_names').map((field) => ({ field, test: readStringMatcher(field) }))
  return [...typed, ...plain]
}

/**
 * Returns the CertificateValidationContext of a TLS context, which may be in a static secret; null when there is none.
 */
export function validationContext(common: Field | null, secrets: Secrets): Field | null {
  const own = memberAt(common, 'validation_context')
  if (own !== null) return own
  const combined = memberAt(common, 'combined_validation_context')
  const reference =
    memberAt(common, 'validation_context_sds_secret_config') ??
    memberAt(combined, 'validation_context_sds_secret_config')
  const secret = reference === null ? null : secrets(memberAt(reference, 'name')?.text ?? '')
  const found = memberAt(secret, 'validation_context')
  if (found !== null) {
    reference?.carried()
    memberAt(combined, 'default_validation_context')?.notCarried(
      'the importer used the static secret and ignored this default',
      true,
    )
    return found
  }
  reference?.notCarried('the certificate authorities come from a control plane', true)
  return memberAt(combined, 'default_validation_context')
}
