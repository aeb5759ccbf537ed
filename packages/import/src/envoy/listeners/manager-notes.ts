import type { Field } from '../../core/yaml-field.ts'
import { memberAt } from '../messages/message.ts'

/** Sets notes on the fields of an HttpConnectionManager that the importer does not read. */
export function noteManager(manager: Field): void {
  for (const [name, note] of Object.entries(NOTES)) memberAt(manager, name)?.notCarried(note, PROTECTIONS.has(name))
  const codec = memberAt(manager, 'codec_type')
  if (['AUTO', null, undefined].includes(codec?.text?.toUpperCase())) codec?.carried()
  else codec?.changed('the gateway accepts both HTTP/1.1 and HTTP/2')
  for (const name of ['strip_matching_host_port', 'strip_any_host_port', 'strip_port_mode'])
    memberAt(manager, name)?.carried('the gateway ignores the port of the Host')
  const normalize = memberAt(manager, 'normalize_path')
  normalize?.changed('the gateway rejects ambiguous paths with status 400: docs/routing.md')
}

const PROTECTIONS = new Set([
  'original_ip_detection_extensions',
  'early_header_mutation_extensions',
  'internal_address_config',
])

const NOTES: Readonly<Record<string, string>> = {
  stat_prefix: "the gateway's metrics have fixed names: docs/logs-and-metrics.md",
  rds: 'the routes come from a control plane, so the listener is not carried',
  scoped_routes: 'the routes come from a control plane, so the listener is not carried',
  access_log: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  access_log_options: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  access_log_flush_interval: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  tracing: 'configure tracing in frontend.tracing: docs/tracing.md',
  use_remote_address: 'frontend.forwardedHeaders decides which forwarding headers of clients are trusted',
  xff_num_trusted_hops: 'frontend.forwardedHeaders decides which forwarding headers of clients are trusted',
  skip_xff_append: 'frontend.forwardedHeaders decides which forwarding headers of clients are trusted',
  internal_address_config:
    'configure an authorization rule with source.address: docs/policies/traffic-authorization.md',
  original_ip_detection_extensions: 'frontend.forwardedHeaders decides which forwarding headers of clients are trusted',
  early_header_mutation_extensions: 'configure a transformation with phase: PreRouting: docs/policies.md',
  forward_client_cert_details: 'configure a transformation with source.certificate: docs/tls.md',
  set_current_client_cert_details: 'configure a transformation with source.certificate: docs/tls.md',
  server_name: 'the gateway sends the server header of the backend',
  server_header_transformation: 'the gateway sends the server header of the backend',
  scheme_header_transformation: 'the gateway uses the scheme of the connection',
  generate_request_id: 'configure frontend.requestId: docs/policies/frontend-request-id.md',
  preserve_external_request_id: 'configure frontend.requestId: docs/policies/frontend-request-id.md',
  always_set_request_id_in_response: 'configure frontend.requestId: docs/policies/frontend-request-id.md',
  request_id_extension: 'configure frontend.requestId: docs/policies/frontend-request-id.md',
  add_user_agent: 'the gateway adds no user-agent header',
  append_x_forwarded_port: 'the gateway sends only x-forwarded-for, x-forwarded-host and x-forwarded-proto',
  common_http_protocol_options: 'configure limits of connections in frontend.http',
  http_protocol_options: "the gateway's HTTP codec has fixed options",
  http2_protocol_options: 'configure limits of HTTP/2 in frontend.http',
  http3_protocol_options: 'the gateway has no HTTP/3',
  max_request_headers_kb: 'configure limits of headers in frontend.http',
  request_timeout: 'configure timeouts.request to limit a request: docs/policies/traffic-timeouts.md',
  request_headers_timeout: 'configure limits of connections in frontend.http',
  stream_idle_timeout: 'configure timeouts.request to limit a request: docs/policies/traffic-timeouts.md',
  stream_flush_timeout: 'the gateway has no time limit for clients that read a response slowly',
  drain_timeout: 'docs/reload-and-shutdown.md',
  delayed_close_timeout: 'the gateway closes connections directly after the response',
  merge_slashes: 'the gateway never normalizes paths: docs/routing.md',
  path_with_escaped_slashes_action: 'the gateway rejects ambiguous paths with status 400: docs/routing.md',
  path_normalization_options: 'the gateway never normalizes paths: docs/routing.md',
  local_reply_config: "the gateway's error responses are fixed: docs/errors.md",
  via: 'the gateway sends no via header',
  represent_ipv4_remote_address_as_ipv4_mapped_ipv6: 'the gateway does not change the form of addresses',
  proxy_100_continue: 'the gateway forwards interim responses of backends',
  proxy_status_config: 'the gateway sends no proxy-status header',
  typed_header_validation_config: 'the gateway always validates headers',
}
