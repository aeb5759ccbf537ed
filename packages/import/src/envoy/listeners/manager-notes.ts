import type { Field } from '../../core/yaml-field.ts'
import { memberAt } from '../messages/message.ts'

/** Sets notes on the fields of an HttpConnectionManager that the importer does not read. */
export function noteManager(manager: Field): void {
  for (const [name, note] of Object.entries(NOTES)) memberAt(manager, name)?.notCarried(note, PROTECTIONS.has(name))
  const codec = memberAt(manager, 'codec_type')
  if (['AUTO', null, undefined].includes(codec?.text?.toUpperCase())) codec?.carried()
  else codec?.changed('clients may use HTTP/1.1 and HTTP/2')
  for (const name of ['strip_matching_host_port', 'strip_any_host_port', 'strip_port_mode'])
    memberAt(manager, name)?.carried('the port of the Host does not count')
  const normalize = memberAt(manager, 'normalize_path')
  normalize?.changed('ambiguous paths get 400: docs/routing.md')
}

const PROTECTIONS = new Set([
  'original_ip_detection_extensions',
  'early_header_mutation_extensions',
  'internal_address_config',
])

const NOTES: Readonly<Record<string, string>> = {
  stat_prefix: 'metrics have other names: docs/logs-and-metrics.md',
  rds: 'routes come from a control plane: the listener is not carried',
  scoped_routes: 'routes come from a control plane: the listener is not carried',
  access_log: 'docs/logs-and-metrics.md',
  access_log_options: 'docs/logs-and-metrics.md',
  access_log_flush_interval: 'docs/logs-and-metrics.md',
  tracing: 'docs/tracing.md',
  use_remote_address: 'frontend.forwardedHeaders decides about headers of clients',
  xff_num_trusted_hops: 'frontend.forwardedHeaders decides about headers of clients',
  skip_xff_append: 'frontend.forwardedHeaders decides about headers of clients',
  internal_address_config: 'write a rule about source.address: docs/policies/traffic-authorization.md',
  original_ip_detection_extensions: 'frontend.forwardedHeaders decides about headers of clients',
  early_header_mutation_extensions: 'phase: PreRouting of a transformation: docs/policies.md',
  forward_client_cert_details: 'write a transformation with source.certificate: docs/tls.md',
  set_current_client_cert_details: 'write a transformation with source.certificate: docs/tls.md',
  server_name: 'responses have the server header of the backend',
  server_header_transformation: 'responses have the server header of the backend',
  scheme_header_transformation: 'the scheme is that of the connection',
  generate_request_id: 'docs/policies/frontend-request-id.md',
  preserve_external_request_id: 'docs/policies/frontend-request-id.md',
  always_set_request_id_in_response: 'docs/policies/frontend-request-id.md',
  request_id_extension: 'docs/policies/frontend-request-id.md',
  add_user_agent: 'requests have the headers of the client',
  append_x_forwarded_port: 'the gateway sends x-forwarded-for, -host and -proto',
  common_http_protocol_options: 'frontend.http has limits of connections',
  http_protocol_options: 'the codec has fixed options',
  http2_protocol_options: 'frontend.http has limits of HTTP/2',
  http3_protocol_options: 'HTTP/3 is not available',
  max_request_headers_kb: 'frontend.http has limits of headers',
  request_timeout: 'timeouts.request limits a request: docs/policies/traffic-timeouts.md',
  request_headers_timeout: 'frontend.http has limits of connections',
  stream_idle_timeout: 'timeouts.request limits a request: docs/policies/traffic-timeouts.md',
  stream_flush_timeout: 'the response is sent as fast as the client reads',
  drain_timeout: 'docs/reload-and-shutdown.md',
  delayed_close_timeout: 'connections are closed after the response',
  merge_slashes: 'paths are never changed: docs/routing.md',
  path_with_escaped_slashes_action: 'ambiguous paths get 400: docs/routing.md',
  path_normalization_options: 'paths are never changed: docs/routing.md',
  local_reply_config: 'the texts of errors are fixed: docs/errors.md',
  via: 'requests and responses have no via header',
  represent_ipv4_remote_address_as_ipv4_mapped_ipv6: 'addresses are as they are',
  proxy_100_continue: 'interim responses of backends pass',
  proxy_status_config: 'responses have no proxy-status header',
  typed_header_validation_config: 'headers are always validated',
}
