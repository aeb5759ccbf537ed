/**
 * Notes for filters that do not restrict access and have no counterpart. The note is empty for filters that need no
 * counterpart.
 */
export const HARMLESS_FILTERS: Readonly<Record<string, string>> = {
  router: '',
  upstream_codec: '',
  dynamic_forward_proxy: 'the backend resolves names itself',
  adaptive_concurrency: 'requests in progress are not limited',
  admission_control: 'requests are not rejected by their success rate',
  alternate_protocols_cache: 'HTTP/3 is not available',
  bandwidth_limit: 'the rate of bodies is not limited',
  brotli: 'responses are not compressed',
  buffer: 'bodies stream; policies that read bodies have frontend.http.maxBufferSize',
  cache: 'responses are not cached: docs/response-cache.md',
  cache_v2: 'responses are not cached: docs/response-cache.md',
  cdn_loop: 'write a rule about the header cdn-loop',
  compressor: 'responses are not compressed',
  connect_grpc_bridge: 'messages of Connect are not translated',
  custom_response: 'responses of backends pass as they are',
  decompressor: 'bodies pass as they are',
  file_system_buffer: 'bodies stream',
  geoip: 'locations of addresses are not known',
  grpc_http1_bridge: 'gRPC passes as it is',
  grpc_stats: 'metrics have other names: docs/logs-and-metrics.md',
  grpc_web: 'gRPC-Web passes as it is',
  gzip: 'responses are not compressed',
  header_to_metadata: 'expressions read headers: docs/expressions.md',
  health_check: '',
  ip_tagging: 'write a transformation with source.address: docs/policies/traffic-transformation.md',
  json_to_metadata: 'expressions read bodies: docs/expressions.md',
  kill_request: 'the gateway is not ended on purpose',
  on_demand: 'routes do not come from a control plane',
  original_src: 'the system chooses the own address',
  set_metadata: 'a transformation sets metadata: docs/policies/traffic-transformation.md',
  set_filter_state: 'a transformation sets metadata: docs/policies/traffic-transformation.md',
  squash: 'there is no debugger',
  tap: 'records of requests: docs/policies/frontend-recorder.md',
}

/** Notes for filters that change the meaning of requests for the upstream. Requests of their routes get 501. */
export const UNTRANSLATED_FILTERS: Readonly<Record<string, string>> = {
  aws_lambda: 'functions are not called',
  aws_request_signing: 'a backend signs its requests with auth.aws: docs/policies/backend-auth.md',
  credential_injector: 'a backend sends its credential with auth: docs/policies/backend-auth.md',
  gcp_authn: 'a backend sends its credential with auth: docs/cloud-credentials.md',
  grpc_http1_reverse_bridge: 'gRPC is not translated',
  grpc_json_reverse_transcoder: 'gRPC is not translated',
  grpc_json_transcoder: 'JSON is not translated to gRPC',
}
