import type { Field } from '../../core/yaml-field.ts'
import { joined } from '../filters/expressions.ts'
import { readTlsParameters, type TlsParameters } from './tls-parameters.ts'
import { listAt, memberAt, takeFlag, takeText, typedConfig, typeOf } from '../messages/message.ts'
import { fileOf, type Secrets } from '../messages/secrets.ts'
import { expressionOfTest } from '../messages/string-matcher.ts'
import { subjectTests, UNSUPPORTED, validationContext } from '../messages/trust.ts'

/** The TLS settings of a filter chain. */
export interface DownstreamTls {
  readonly cert: string
  readonly key: string
  readonly root: string | null
  /** Whether clients without a certificate are accepted although `root` is set. */
  readonly isOptional: boolean
  /**
   * An expression that is true for requests of clients whose certificate has another name; null when all names are
   * accepted.
   */
  readonly denial: string | null
  readonly parameters: TlsParameters
}

/**
 * Reads the TLS settings of a filter chain; null for plain text. Returns the reason as a string for other kinds of
 * transport sockets.
 */
export function readDownstreamTls(chain: Field, secrets: Secrets): DownstreamTls | string | null {
  const socket = memberAt(chain, 'transport_socket')
  if (socket === null) return null
  takeText(socket, 'name')
  const config = typedConfig(socket)
  const type = typeOf(config)
  if (type === 'transport_sockets.raw_buffer') return null
  if (type !== 'transport_sockets.tls') return 'the kind of transport socket has no counterpart'
  for (const [name, note] of Object.entries(NOTES)) memberAt(config, name)?.notCarried(note)
  const common = memberAt(config, 'common_tls_context')
  noteProtocols(common)
  const { cert, key } = certificateOf(common, secrets)
  const parameters = readTlsParameters(memberAt(common, 'tls_params'))
  return { cert, key, parameters, ...clientTrust(config, common, secrets) }
}

const MISSING = 'write certificate and key to the files that the new config names'

function certificateOf(common: Field | null, secrets: Secrets): { cert: string; key: string } {
  const [first, ...others] = listAt(common, 'tls_certificates')
  for (const each of others) each.notCarried('a listener of the gateway has one certificate: docs/tls.md')
  const [reference, ...more] = listAt(common, 'tls_certificate_sds_secret_configs')
  for (const each of more) each.notCarried('a listener of the gateway has one certificate: docs/tls.md')
  const name = memberAt(reference ?? null, 'name')?.text ?? ''
  const secret = reference === undefined ? null : memberAt(secrets(name), 'tls_certificate')
  const found = first ?? secret
  if (secret !== null) reference?.carried()
  else reference?.changed(`the certificate comes from a control plane: ${MISSING}`)
  const slug = name.replaceAll(/[^A-Za-z0-9.-]+/g, '-').replaceAll(/^[-.]+/g, '') || 'default'
  const files = ['certificate_chain', 'private_key'].map((part, index) => {
    const source = memberAt(found, part)
    const file = fileOf(source)
    if (file === null) source?.changed('write the text to the file that the new config names')
    return file ?? `certificates/${slug}.${index === 0 ? 'pem' : 'key'}`
  })
  for (const each of ['password', 'ocsp_staple', 'private_key_provider', 'pkcs12'])
    memberAt(found, each)?.notCarried('the gateway reads keys from PEM files without a password: docs/tls.md')
  return { cert: files[0] ?? '', key: files[1] ?? '' }
}

function clientTrust(
  config: Field | null,
  common: Field | null,
  secrets: Secrets,
): Pick<DownstreamTls, 'root' | 'isOptional' | 'denial'> {
  const isRequired = takeFlag(config, 'require_client_certificate')
  const context = validationContext(common, secrets)
  const hasContext = context !== null || memberAt(common, 'validation_context_sds_secret_config') !== null
  if (!isRequired && !hasContext) return { root: null, isOptional: false, denial: null }
  const authorities = memberAt(context, 'trusted_ca')
  const file = fileOf(authorities)
  if (file === null)
    (authorities ?? memberAt(config, 'require_client_certificate') ?? common)?.changed(
      'write the certificate authorities to the file that the new config names',
      true,
    )
  const lost = UNSUPPORTED.flatMap((name) => memberAt(context, name) ?? [])
  for (const each of lost)
    each.notCarried('the field has no counterpart; requests get 403 until you configure a replacement', true)
  const tests = subjectTests(context)
  const parts = tests.flatMap(({ field, test }) => {
    if (typeof test === 'string') {
      field.notCarried(test, true)
      return []
    }
    field.changed('clients whose certificate has another name get 403')
    return [`source.certificate.subjectAltNames.exists(each, ${expressionOfTest(test, 'each')})`]
  })
  const isNamed = parts.length === 0 ? 'false' : joined(parts, '||')
  const named = tests.length === 0 ? null : `!(has(source.certificate) && (${isNamed}))`
  return {
    root: file ?? 'certificates/clients.pem',
    isOptional: !isRequired,
    denial: lost.length > 0 ? 'true' : named,
  }
}

function noteProtocols(common: Field | null): void {
  const protocols = memberAt(common, 'alpn_protocols')
  const names = (protocols?.items ?? []).map(({ text }) => text)
  if (names.length === 2 && names.includes('h2') && names.includes('http/1.1')) protocols?.carried()
  else protocols?.notCarried('frontend.tls.alpnProtocols applies to all listeners')
}

const NOTES: Readonly<Record<string, string>> = {
  session_timeout: 'the gateway always resumes TLS sessions',
  session_ticket_keys: 'the gateway always resumes TLS sessions',
  session_ticket_keys_sds_secret_config: 'the gateway always resumes TLS sessions',
  disable_stateless_session_resumption: 'the gateway always resumes TLS sessions',
  disable_stateful_session_resumption: 'the gateway always resumes TLS sessions',
  require_sni: 'the gateway has a listener without a hostname for clients without a server name',
  ocsp_staple_policy: 'the gateway sends no OCSP responses',
  full_scan_certs_on_sni_mismatch: 'a listener of the gateway has one certificate',
  prefer_client_ciphers: "the gateway's order of cipher suites decides",
}
