import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Field } from '../../core/yaml-field.ts'
import { listAt, memberAt, takeText, typedConfig, typeOf } from '../messages/message.ts'
import { fileOf, type Secrets } from '../messages/secrets.ts'
import { trustOf } from '../messages/trust.ts'

/**
 * Returns the TLS policy of a cluster; undefined for a cluster without TLS. The gateway always verifies the
 * certificates of servers.
 */
export function readUpstreamTls(cluster: Field, secrets: Secrets): object | undefined {
  const socket = memberAt(cluster, 'transport_socket')
  if (socket === null) return undefined
  takeText(socket, 'name')
  const config = typedConfig(socket)
  const type = typeOf(config)
  if (type.endsWith('transport_sockets.raw_buffer')) return undefined
  if (type !== 'transport_sockets.tls') {
    socket.notCarried('the kind of transport socket has no counterpart; the gateway uses TLS', true)
    return {}
  }
  const sni = memberAt(config, 'sni')
  const isName = sni !== null && /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(sni.text ?? '')
  if (isName) sni.carried()
  else sni?.notCarried('the value is not a valid hostname')
  for (const name of ['allow_renegotiation', 'max_session_keys', 'enforce_rsa_key_usage'])
    memberAt(config, name)?.notCarried("the gateway's TLS client has fixed options")
  for (const name of ['auto_host_sni', 'auto_sni_san_validation'])
    memberAt(config, name)?.changed("the gateway uses the backend's name as the TLS server name")
  const common = memberAt(config, 'common_tls_context')
  noteParameters(memberAt(common, 'tls_params'))
  memberAt(common, 'alpn_protocols')?.carried('the gateway offers the ALPN protocols of its HTTP version')
  const trust = trustOf(common, secrets)
  if (trust === null) config?.get('@type')?.changed('the gateway verifies the certificate of the server')
  return withoutAbsent({
    sni: isName ? sni.text : undefined,
    caCertificateRefs: trust?.file == null ? undefined : [trust.file],
    verifySubjectAltNames: trust === null || trust.names.length === 0 ? undefined : trust.names,
    mtlsCertificateRef: clientCertificate(common, secrets),
  })
}

/**
 * Sets notes on the TLS parameters of a cluster. The gateway connects to servers with TLS 1.2 or 1.3, and with the
 * cipher suites of its runtime.
 */
function noteParameters(parameters: Field | null): void {
  const [minimum, maximum] = ['minimum', 'maximum'].map((end) => memberAt(parameters, `tls_${end}_protocol_version`))
  if (minimum?.text?.toUpperCase() === 'TLSV1_3')
    minimum.notCarried('the gateway also accepts servers with TLS 1.2', true)
  else if (['TLSV1_0', 'TLSV1_1'].includes(minimum?.text?.toUpperCase() ?? ''))
    minimum?.changed('the gateway connects to servers with at least TLS 1.2')
  else minimum?.carried()
  if (['TLSV1_3', 'TLS_AUTO'].includes(maximum?.text?.toUpperCase() ?? '')) maximum?.carried()
  else maximum?.changed('the gateway also accepts servers with TLS 1.3')
  memberAt(parameters, 'cipher_suites')?.notCarried('the gateway uses the cipher suites of its runtime', true)
  memberAt(parameters, 'ecdh_curves')?.notCarried('configure keyExchangeGroups: docs/policies/backend-tls.md')
  memberAt(parameters, 'signature_algorithms')?.notCarried("the gateway's signature algorithms are fixed")
}

function clientCertificate(common: Field | null, secrets: Secrets): object | undefined {
  const [first, ...others] = listAt(common, 'tls_certificates')
  for (const each of others) each.notCarried('a backend of the gateway has one client certificate')
  const reference = listAt(common, 'tls_certificate_sds_secret_configs')[0]
  const secret = reference === undefined ? null : secrets(memberAt(reference, 'name')?.text ?? '')
  const certificate = first ?? memberAt(secret, 'tls_certificate')
  if (certificate == null) {
    reference?.notCarried('the client certificate comes from a control plane')
    return undefined
  }
  if (secret !== null) reference?.carried()
  const [cert, key] = [fileOf(memberAt(certificate, 'certificate_chain')), fileOf(memberAt(certificate, 'private_key'))]
  if (cert !== null && key !== null) return { cert, key }
  certificate.notCarried(
    'the gateway reads certificates from files; write certificate and key to files: docs/policies/backend-tls.md',
  )
  return undefined
}
