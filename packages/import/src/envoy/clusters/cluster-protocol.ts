import type { Field } from '../../core/yaml-field.ts'
import { memberAt } from '../messages/message.ts'

const OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions'

/** Returns the HTTP version of requests to a cluster. HTTP/1.1 is the default. */
export function httpVersionOf(cluster: Field): object | undefined {
  const options = memberAt(cluster, 'typed_extension_protocol_options')?.get(OPTIONS) ?? null
  options?.get('@type')?.carried()
  const upstream = memberAt(options, 'upstream_http_protocol_options')
  for (const name of ['auto_sni', 'auto_san_validation'])
    memberAt(upstream, name)?.changed("the gateway uses the backend's name as the TLS server name")
  memberAt(options, 'common_http_protocol_options')?.notCarried(
    'configure limits of idle connections in config.backend',
  )
  const old = memberAt(cluster, 'http2_protocol_options')
  old?.carried()
  memberAt(cluster, 'http_protocol_options')?.notCarried("the gateway's HTTP codec has fixed options")
  const explicit = memberAt(options, 'explicit_http_config')
  const [second, first, third] = ['http2_protocol_options', 'http_protocol_options', 'http3_protocol_options'].map(
    (name) => memberAt(explicit, name),
  )
  const downstream = memberAt(options, 'use_downstream_protocol_config')
  const automatic = memberAt(options, 'auto_config')
  third?.notCarried('the gateway has no HTTP/3; requests use HTTP/1.1')
  downstream?.changed("upstream requests have the client's HTTP version on plain text ports, and HTTP/1.1 on TLS ports")
  automatic?.changed('upstream requests use HTTP/2, unless ALPN chooses HTTP/1.1')
  for (const each of [second, first]) {
    if (each == null) continue
    if (each.members.length === 0) each.carried()
    else each.changed('the importer ignores the limits in this field')
  }
  if (downstream !== null) return undefined
  return { version: second != null || automatic !== null || old !== null ? 'HTTP2' : 'HTTP1' }
}
