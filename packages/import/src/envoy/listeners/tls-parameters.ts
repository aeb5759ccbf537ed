import type { Field } from '../../core/yaml-field.ts'
import { withoutAbsent } from '../../core/config-yaml.ts'
import { listAt, memberAt } from '../messages/message.ts'

/**
 * The TLS versions, cipher suites and key exchange groups of a filter chain. The gateway has one such setting for all
 * listeners.
 */
export interface TlsParameters {
  /** The parameters as fields of `frontend.tls`. */
  readonly policy: Readonly<Record<string, unknown>>
  /** Sets the verdicts of the fields. `isCarried` says that all filter chains have the same parameters. */
  note(this: void, isCarried: boolean): void
}

const VERSIONS: Readonly<Record<string, string>> = { TLSV1_2: '1.2', TLSV1_3: '1.3' }

export function readTlsParameters(field: Field | null): TlsParameters {
  const [minimum, maximum] = ['minimum', 'maximum'].map((end) => memberAt(field, `tls_${end}_protocol_version`) ?? null)
  const [suites, groups] = [suitesOf(field), groupsOf(field)]
  const [oldest, newest] = [minimum, maximum].map((each) => each?.text?.toUpperCase() ?? 'TLS_AUTO')
  const policy = withoutAbsent({
    minProtocolVersion: oldest === 'TLSV1_3' ? VERSIONS[oldest] : undefined,
    maxProtocolVersion: newest === 'TLSV1_2' ? VERSIONS[newest] : undefined,
    cipherSuites: suites === null || suites.length === 0 ? undefined : suites,
    keyExchangeGroups: groups === null || groups.length === 0 ? undefined : groups,
  })
  return {
    policy,
    note(isCarried) {
      noteVersions(minimum ?? null, maximum ?? null, isCarried)
      const [ciphers, curves] = ['cipher_suites', 'ecdh_curves'].map((name) => memberAt(field, name))
      noteList(ciphers ?? null, { names: suites, isCarried, isProtection: true })
      noteList(curves ?? null, { names: groups, isCarried, isProtection: false })
      memberAt(field, 'signature_algorithms')?.notCarried("the gateway's signature algorithms are fixed")
      memberAt(field, 'compliance_policies')?.notCarried(
        'the gateway has no compliance policies; configure versions and cipher suites in frontend.tls',
        true,
      )
    },
  }
}

const DIFFERENT = 'frontend.tls applies to all listeners, and the filter chains have different values'

function noteVersions(minimum: Field | null, maximum: Field | null, isCarried: boolean): void {
  const [oldest, newest] = [minimum, maximum].map((each) => each?.text?.toUpperCase() ?? '')
  if (oldest === 'TLSV1_0' || oldest === 'TLSV1_1')
    minimum?.changed('the gateway does not support TLS versions before 1.2')
  else if (isCarried || oldest !== 'TLSV1_3') minimum?.carried()
  else minimum?.notCarried(DIFFERENT, true)
  if (newest === 'TLSV1_0' || newest === 'TLSV1_1')
    maximum?.notCarried('the gateway does not support TLS versions before 1.2')
  else if (isCarried || newest !== 'TLSV1_2') maximum?.carried()
  else maximum?.notCarried(DIFFERENT)
}

interface ListNote {
  readonly names: readonly string[] | null
  readonly isCarried: boolean
  readonly isProtection: boolean
}

function noteList(list: Field | null, { names, isCarried, isProtection }: ListNote): void {
  if (list === null) return
  if (!isCarried) list.notCarried(DIFFERENT, isProtection)
  else if (names === null || names.length === 0)
    list.notCarried('the gateway supports none of the listed values', isProtection)
  else list.changed('the importer kept the values that the gateway supports, in their order')
}

/** The TLS 1.3 suites, which are always allowed, because Envoy cannot disable them. */
const NEWEST = ['TLS13_AES_256_GCM_SHA384', 'TLS13_AES_128_GCM_SHA256', 'TLS13_CHACHA20_POLY1305_SHA256']

const SUITES: Readonly<Record<string, string>> = Object.fromEntries(
  ['ECDSA', 'RSA'].flatMap((kind) => [
    [`ECDHE-${kind}-AES256-GCM-SHA384`, `TLS_ECDHE_${kind}_WITH_AES_256_GCM_SHA384`],
    [`ECDHE-${kind}-AES128-GCM-SHA256`, `TLS_ECDHE_${kind}_WITH_AES_128_GCM_SHA256`],
    [`ECDHE-${kind}-CHACHA20-POLY1305`, `TLS_ECDHE_${kind}_WITH_CHACHA20_POLY1305_SHA256`],
  ]),
)

/**
 * Returns the supported cipher suites: null when the config lists none, empty when none of the listed suites is
 * supported. Brackets around suites of equal rank are ignored.
 */
function suitesOf(field: Field | null): string[] | null {
  const list = listAt(field, 'cipher_suites')
  if (list.length === 0) return null
  const found = list
    .flatMap(({ text }) => (text ?? '').replaceAll(/[[\]]/g, '').split(/[|:]/))
    .flatMap((name) => SUITES[name.trim()] ?? [])
  return found.length === 0 ? [] : [...NEWEST, ...new Set(found)]
}

const GROUPS: Readonly<Record<string, string>> = {
  X25519: 'X25519',
  'P-256': 'P-256',
  'P-384': 'P-384',
  X25519MLKEM768: 'X25519_MLKEM768',
}

function groupsOf(field: Field | null): string[] | null {
  const list = listAt(field, 'ecdh_curves')
  return list.length === 0 ? null : [...new Set(list.flatMap(({ text }) => GROUPS[text ?? ''] ?? []))]
}
