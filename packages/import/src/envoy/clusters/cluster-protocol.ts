import type { Field } from '../../core/yaml-field.ts'
import { memberAt } from '../messages/message.ts'

const OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions'

/** Returns the HTTP version of requests to a cluster. HTTP/1.1 is the default. */
export function httpVersionOf(cluster: Field): object | undefined {
  const options = memberAt(cluster, 'typed_extension_protocol_options')?.get(OPTIONS) ?? null
  options?.get('@type')?.carried()
  const upstream = memberAt(options, 'upstream_http_protocol_options')
  for (const name of ['auto_sni', 'auto_san_validation'])
    memberAt(upstream, name)?.changed('the server name is that of the backend')
  memberAt(options, 'common_http_protocol_options')?.notCarried('config.backend has limits of idle connections')
  const old = memberAt(cluster, 'http2_protocol_options')
  old?.carried()
  memberAt(cluster, 'http_protocol_options')?.notCarried('the codec has fixed options')
  const explicit = memberAt(options, 'explicit_http_config')
  const [second, first, third] = ['http2_protocol_options', 'http_protocol_options', 'http3_protocol_options'].map(
    (name) => memberAt(explicit, name),
  )
  const downstream = memberAt(options, 'use_downstream_protocol_config')
  const automatic = memberAt(options, 'auto_config')
  third?.notCarried('HTTP/3 is not available: requests use HTTP/1.1')
  downstream?.changed('the version of the client on plain text, HTTP/1.1 from TLS listeners')
  automatic?.changed('HTTP/2, unless ALPN chooses HTTP/1.1')
  for (const each of [second, first]) {
    if (each == null) continue
    if (each.members.length === 0) each.carried()
    else each.changed('without its limits')
  }
  if (downstream !== null) return undefined
  return { version: second != null || automatic !== null || old !== null ? 'HTTP2' : 'HTTP1' }
}
